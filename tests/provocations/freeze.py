"""`python tests/provocations/freeze.py RUN NAME`: keeps of a real run the raw files that its verdict needs, for
loadgen/tests/test_replay.py."""

import io
import json
import sys
import tarfile
from pathlib import Path

FROZEN = Path(__file__).parents[2] / "loadgen" / "tests" / "golden" / "replay"
UNREAD = {".log", "-percentiles.csv"}
"""Ends of names that no judgement reads."""


def content(file: Path) -> bytes:
    """Of what the engine told of the container, its state: the rest names the host's folders."""
    if file.name != "container.json":
        return file.read_bytes()
    [told] = json.loads(file.read_text())
    return json.dumps([{key: told[key] for key in ("Id", "Created", "State", "RestartCount")}]).encode()


def freeze(run: Path, name: str) -> None:
    with tarfile.open(FROZEN / f"{name}.tar.xz", "w:xz", preset=9) as archive:
        for file in sorted((run / "raw").iterdir()):
            if not file.name.endswith(tuple(UNREAD)):
                info = tarfile.TarInfo(f"raw/{file.name}")
                info.size = len(content(file))
                archive.addfile(info, io.BytesIO(content(file)))


if __name__ == "__main__":
    freeze(Path(sys.argv[1]), sys.argv[2])
