"""`python -m watching record FILE | view FILE | sample ... | report FOLDER`; see --help."""

import argparse
import sys
from pathlib import Path

from watching import bench
from watching.own import Kernel
from watching.panels import queries_of
from watching.prometheus import Prometheus
from watching.record import record
from watching.view import view


def services_of(file: Path) -> dict[str, str]:
    """IDs by service, from lines `ID SERVICE`."""
    return {service: id_ for id_, service in (line.split() for line in file.read_text().splitlines())}


def main() -> int:
    parser = argparse.ArgumentParser(prog="watching", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("record", help="every container's own counters, until SIGTERM")
    one.add_argument("file", type=Path)
    one = commands.add_parser("view", help="what a dashboard asks, again and again, until SIGTERM")
    one.add_argument("--prometheus", default="http://prometheus:9090")
    one.add_argument("--every", type=float, default=5, help="seconds from one refresh to the next")
    one.add_argument("queries", type=Path, help="every panel's queries, lines of JSON")
    one = commands.add_parser("sample", help="one window of the benchmark")
    one.add_argument("--case", required=True)
    one.add_argument("--observers", choices=("with", "without", "warm-up"), required=True)
    one.add_argument("--seconds", type=float, required=True)
    one.add_argument("--loaded", nargs="*", default=[], help="the approaches under load")
    one.add_argument("folder", type=Path, help="holds `services`, lines `ID SERVICE`; the sample is written there")
    one = commands.add_parser("report", help="the benchmark's table; exit 1 over the limit")
    one.add_argument("folder", type=Path)
    return run(parser.parse_args())


def run(asked: argparse.Namespace) -> int:
    match asked.command:
        case "record":
            record(Kernel(), asked.file)
        case "view":
            view(Prometheus(asked.prometheus), queries_of(asked.queries), asked.every)
        case "sample":
            ids = services_of(asked.folder / "services")
            sample = bench.take(asked.case, asked.observers, Kernel(), ids, asked.loaded, asked.seconds)
            bench.write(sample, asked.folder)
        case "report":
            samples = bench.read(asked.folder)
            print(bench.table(samples))  # noqa: T201
            sentences = bench.over_limit(samples)
            print("\n".join(sentences), file=sys.stderr)  # noqa: T201
            return 1 if sentences else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
