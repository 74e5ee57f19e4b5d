"""What the lab has, read from the checkout."""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

import yaml

from loomlab.plan.scenarios import names
from loomlab.plan.variables import Asked, model_of

SOURCES = (
    "compose.yaml", ".env", "services", "loadgen/Dockerfile", "loadgen/entrypoint", "loadgen/requirements.txt",
    "loadgen/src", "loadgen/tools", "loadgen/users",
)  # fmt: skip
NO_SOURCES = frozenset(
    {"target", "test", "tests", "contract-tests", "__pycache__", "answer", "published", "report", "show", "statistics"}
)
"""Folders of those that change no run: of no image, or of what is said of judged runs. Nor are hidden ones taken."""


class Lab:
    """The checkout at `root`; the scenarios are where the load generator finds the bodies of their requests, too."""

    def __init__(self, root: Path = Path("/lab"), scenarios: Path = Path("/scenarios")) -> None:
        self.root = root
        self.sizes = root / "sizes"
        self.papers = root / "loadgen" / "published"
        self.scenarios = scenarios
        lines = (root / ".env").read_text(encoding="utf-8").splitlines()
        self.defaults = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        services = yaml.safe_load((root / "compose.yaml").read_text(encoding="utf-8"))["services"]
        self.approaches, self.headline, self.idiomatic = (
            [name for name, service in services.items() if profile in service.get("profiles", [])]
            for profile in ("all", "headline", "idiomatic")
        )
        self.against = {name: services[name]["x-against"] for name in self.approaches if "x-against" in services[name]}
        self.colours = {name: services[name]["x-colour"] for name in self.approaches if "x-colour" in services[name]}

    def asked(self, verb: str, given: Mapping[str, str]) -> Asked:
        """What is asked for with a verb of make. Raises UsageError, as `model_of`."""
        files = {"sizes": names(self.sizes, "env"), "papers": names(self.papers)}
        return model_of(verb, given, {"approaches": self.approaches} | files, self.defaults)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of what makes and judges runs."""
        whole = hashlib.sha256()
        for path in sorted(path for name in SOURCES for path in _files(self.root / name)):
            whole.update(f"{path.relative_to(self.root)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        return whole.hexdigest()

    def named(self, approaches: str) -> list[str]:
        """The approaches of `headline`, `all`, or names with commas between them."""
        every = {"headline": self.headline, "all": self.approaches}.get(approaches) or approaches.split(",")
        return list(dict.fromkeys(every))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    for root, folders, files in path.walk():
        folders[:] = [name for name in folders if name not in NO_SOURCES and not name.startswith(".")]
        yield from (root / name for name in files)
