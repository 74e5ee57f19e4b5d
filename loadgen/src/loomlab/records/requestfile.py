"""The columns of a run's requests, derived from what its tool left: a file that can be deleted and is made again."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from loomlab.records.files import whole
from loomlab.records.requestlog import COLUMNS, RequestLog

COUNTS = ("unanswered", "doubtful", "rounded_ms")


def requests_kept(path: Path, sources: list[Path], parse: Callable[[], RequestLog | None]) -> RequestLog | None:
    """The requests as the file has them, or parsed, and then kept there, where the tool's own files are others than
    those it was made from. None where the tool has no per-request data; raises what `parse` raises."""
    made_from = json.dumps([[one.name, one.stat().st_size, one.stat().st_mtime_ns] for one in sources if one.exists()])
    try:
        with np.load(path) as kept:
            if str(kept["made_from"]) == made_from:
                head = json.loads(str(kept["head"]))
                return RequestLog(**{name: kept[name] for name in COLUMNS}, **head)
    except (OSError, ValueError, KeyError):
        pass
    log = parse()
    if log is not None:
        head = {name: getattr(log, name) for name in COUNTS} | {"failures": dict(log.failures)}
        with whole(path) as sink:
            columns = {name: getattr(log, name) for name in COLUMNS}
            np.savez(sink, made_from=np.array(made_from), head=np.array(json.dumps(head)), **columns)
    return log
