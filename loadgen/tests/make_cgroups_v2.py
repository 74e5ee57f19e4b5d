"""Writes tests/cgroups/v2.txt anew, as a kernel tells it: `python make_cgroups_v2.py KERNEL BUSYBOX`.

QEMU boots the kernel, without KVM; `make_cgroups/init` then makes the cgroups. KERNEL is `boot/vmlinuz-*` of Debian's
package linux-image-cloud-amd64, BUSYBOX the program of busybox-static, both unpacked (`dpkg-deb --extract`). It needs
qemu-system-x86, cpio, gcc and libc6-dev, too."""

import gzip
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
CAP_S = 300
END = "== end"
HEAD = """\
# Recorded by make_cgroups_v2.py on {date}: {kernel} in QEMU.
# No engine: make_cgroups/init made the cgroups. One container below systemd, with a CPU quota and a memory limit; one
# below cgroupfs, with neither; one of a rootless engine that has the controllers memory and pids only.

"""


def archive(busybox: Path, root: Path) -> bytes:
    """The files that the kernel starts with."""
    for name in ("bin", "dev", "proc", "sys"):
        (root / name).mkdir()
    shutil.copy(busybox, root / "bin" / "busybox")
    (root / "bin" / "sh").symlink_to("busybox")
    shutil.copy(HERE / "make_cgroups" / "init", root / "init")
    compiler = ["gcc", "-static", "-pthread", "-o", str(root / "bin" / "work"), str(HERE / "make_cgroups" / "work.c")]
    subprocess.run(compiler, check=True)  # noqa: S603
    names = "".join(f"{path.relative_to(root)}\n" for path in sorted(root.rglob("*")))
    packed = subprocess.run(
        ["cpio", "--quiet", "--create", "--format=newc"],  # noqa: S607
        input=names.encode(),
        stdout=subprocess.PIPE,
        cwd=root,
        check=True,
    )
    return gzip.compress(packed.stdout)


def boot(kernel: Path, initramfs: Path, folder: Path) -> str:
    """What it prints to the second serial port; the first is the kernel's."""
    console, told = folder / "console", folder / "told"
    machine = ["-accel", "tcg", "-m", "512", "-no-reboot", "-nodefaults", "-display", "none"]
    ports = ["-serial", f"file:{console}", "-serial", f"file:{told}"]
    system = ["-kernel", str(kernel), "-initrd", str(initramfs), "-append", "console=ttyS0 panic=1"]
    subprocess.run(["qemu-system-x86_64", *machine, *ports, *system], check=True, timeout=CAP_S)  # noqa: S603, S607
    text, ended, _ = told.read_text().replace("\r", "").partition(END)
    if not ended:
        raise SystemExit(f"It did not come to its end:\n{console.read_text()}")
    return text


def main() -> None:
    kernel, busybox = map(Path, sys.argv[1:])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "root").mkdir()
        (folder / "initramfs").write_bytes(archive(busybox, folder / "root"))
        text = boot(kernel, folder / "initramfs", folder)
    booted, _, files = text.partition("\n\n")
    head = HEAD.format(kernel=booted, date=datetime.now(UTC).date())
    (HERE / "cgroups" / "v2.txt").write_text(head + files.rstrip() + "\n")


if __name__ == "__main__":
    main()
