"""Asks the process under test for its memory."""

import json
import time
import urllib.request
from collections.abc import Callable
from http.client import HTTPException

from loomlab.records.memory import MemoryAnswer

TIMEOUT_S = 30.0
"""A full collection that looks at 10,000 stacks takes seconds."""

AskMemory = Callable[[], MemoryAnswer]


def memory_of(management: str) -> AskMemory:
    """Asks for it after a full collection. `management` is the origin of the approach's management port, such as
    `http://tomcat-virtual:8081`."""

    def ask() -> MemoryAnswer:
        asked = time.time()
        answer, error = None, None
        post = urllib.request.Request(f"{management}/memory", method="POST")  # noqa: S310 - an http URL of the lab
        try:
            with urllib.request.urlopen(post, timeout=TIMEOUT_S) as told:  # noqa: S310
                body = json.loads(told.read())
            answer = body if isinstance(body, dict) else None
            error = None if answer is not None else f"{management}/memory did not answer an object"
        except (OSError, HTTPException, ValueError) as problem:
            error = f"{management}/memory did not answer ({problem})"
        return MemoryAnswer(asked=asked, answered=time.time(), answer=answer, error=error)

    return ask
