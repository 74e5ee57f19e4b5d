"""`python cut.py SEED`: ends a guest that writes results at a moment drawn from the seed, as a power cut does; prints
what is lost or wrong on its disk then, as tests/faults/try does."""

import gzip
import json
import random
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from loomlab.answer.summary import killed
from loomlab.basics.errors import ParseError
from loomlab.records.files import SUMS, checksum, read_json
from loomlab.records.order import order_of

SPAN_S = 20  # within which the moment is, from the guest's first file on
DISK, FOUND, BOOT = Path("/tmp/disk"), Path("/tmp/found"), Path("/boot")  # noqa: S108 - the container's own
GUEST = [
    *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-m", "1G", "-nodefaults", "-no-reboot"),
    *("-display", "none", "-serial", "stdio"),
    *("-kernel", str(*BOOT.glob("vmlinuz-*")), "-initrd", str(*BOOT.glob("initrd.img-*"))),
    *("-append", "console=ttyS0 quiet root=/dev/vda ro panic=-1 init=/power/init"),
    *("-drive", "file=/guest.img,if=virtio,format=raw,readonly=on"),
    *("-drive", f"file={DISK},if=virtio,format=raw,cache=writeback"),
]


def run(*command: str, cwd: Path | None = None) -> int:
    """Its exit code; what it says goes to the log."""
    return subprocess.run(command, cwd=cwd, stdout=sys.stderr, check=False).returncode  # noqa: S603


def told_until(moment_s: float) -> list[list[str]]:
    """What the guest told in whole lines before it was cut off; raises EOFError where it ended by itself."""
    said: list[bytes] = []
    with subprocess.Popen(GUEST, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as guest:  # noqa: S603
        assert guest.stdout
        for line in guest.stdout:
            said.append(line)
            if line.strip() == b"ready":
                time.sleep(moment_s)
                break
        cut = said and said[-1].strip() == b"ready" and guest.poll() is None
        guest.kill()
        said += guest.stdout.read().splitlines(keepends=True)
    if not cut:
        raise EOFError(b"".join(said).decode(errors="replace"))
    words = [line.decode(errors="replace").split() for line in said if line.endswith(b"\n")]
    return [line for line in words if line and line[0] in {"finished", "judged", "summed"}]


def cut_off(results: Path) -> Iterator[str]:
    """Files with a final name that are not whole; the host's shell may leave half of its own."""
    for path in results.rglob("*"):
        try:
            if path.suffix == ".json" and path.name != "container.json":
                read_json(path)
            elif path.suffix == ".gz":
                gzip.decompress(path.read_bytes())
            elif path.name == SUMS and not holds(path.parent):
                yield f"{path} does not hold"
        except (ParseError, EOFError, OSError, zlib.error) as error:
            yield str(error)


def holds(folder: Path) -> bool:
    return run("sha256sum", "--check", "--status", SUMS, cwd=folder) == 0


def missing(results: Path, told: list[list[str]]) -> Iterator[str]:
    """Of what was told, once it was summed up; last comes what changes the folder."""
    for what, name, was in sorted(told, reverse=True):
        folder = results / name
        if what != "finished":
            whole = (folder / SUMS).exists() and holds(folder)
        else:
            (folder / "raw" / "container.json").unlink(missing_ok=True)
            order = order_of(folder.parent.parent)
            whole = order is not None and order.run(folder.name).state == "judged" and checksum(folder / "raw") == was
        if not whole:
            yield f"{what} {name}"


def main(seed: str) -> None:
    moment_s = random.Random(seed).uniform(0, SPAN_S)  # noqa: S311 - no secret
    FOUND.mkdir()
    made = run("mke2fs", "-q", "-t", "ext4", str(DISK), "256M")
    told = told_until(moment_s)
    damage = run("e2fsck", "-fy", str(DISK)) > 1  # 1: it corrected something, such as by the journal
    dumped = run("debugfs", "-R", f"rdump / {FOUND}", str(DISK))
    wrong = [*cut_off(FOUND)] + ["the file system is damaged"] * bool(damage or made or dumped)
    code = run("loomlab", "finish", "--results", str(FOUND))
    wrong += [f"finish ended with {code}"] * (code != 0)
    wrong += [f"{folder.name} is not summed up" for folder in killed(FOUND)]
    lost = [*missing(FOUND, told)]
    told_of = {"moment_ms": round(moment_s * 1000), "code": code, "finished": len(told)}
    print(json.dumps(told_of | {"lost": ", ".join(lost), "wrong": ", ".join(wrong), "left": ""})[1:-1])  # noqa: T201
    sys.exit(bool(lost or wrong))


main(sys.argv[1])
