"""Asks the process under test, by its management port, for its memory and to reset its high-water marks."""

import json
import time
from collections.abc import Callable

from loomlab.records.memory import MemoryAnswer
from loomlab.run.prometheus import UnreachableError, answered

MEMORY_TIMEOUT_S = 30.0
"""A full collection that looks at 10,000 stacks takes seconds."""

AskMemory = Callable[[], MemoryAnswer]


def memory_of(management: str) -> AskMemory:
    """A function that asks for the memory after a full collection. `management` is the origin of the management port,
    such as `http://tomcat-virtual:8081`."""

    def ask() -> MemoryAnswer:
        asked, answer, error = time.time(), None, None
        try:
            body = json.loads(answered(f"{management}/memory", "POST", MEMORY_TIMEOUT_S))
            answer = body if isinstance(body, dict) else None
            error = None if answer is not None else f"{management}/memory did not answer an object"
        except UnreachableError as problem:
            error = str(problem)
        except ValueError as problem:
            error = f"{management}/memory did not answer JSON ({problem})"
        return MemoryAnswer(asked=asked, answered=time.time(), answer=answer, error=error)

    return ask


def reset_peaks(management: str) -> bool:
    """Whether the process did."""
    try:
        answered(f"{management}/peaks", "PUT")
    except UnreachableError:
        return False
    return True
