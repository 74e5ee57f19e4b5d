"""Trees of cgroups, as kernels told them: `tests/cgroups/` has `== PATH`, then what that file held."""

from pathlib import Path

CGROUPS = Path(__file__).parent / "cgroups"


def unpack(version: int, root: Path) -> Path:
    """The tree of that version, below `root`."""
    for part in (CGROUPS / f"v{version}.txt").read_text().split("\n== ")[1:]:
        name, _, held = part.partition("\n")
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(held.strip() + "\n")
    return root


def replace(path: Path, old: str, new: str) -> None:
    """In a file that has it."""
    text = path.read_text()
    assert old in text, text
    path.write_text(text.replace(old, new))
