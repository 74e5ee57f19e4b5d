"""What every answer that is not a success has in common."""

import json

from cases import TITLES
from wire import Answer


def assert_problem(answer: Answer, status: int, allow: frozenset[str] = frozenset()) -> None:
    """The answer is the RFC 9457 body of that status and shows nothing of the server's inside."""
    assert answer.status == status
    assert answer.header("Content-Type") == "application/problem+json"
    expected = ["content-length", "content-type", "date", *(["allow"] if allow else [])]
    assert [name for name in answer.names if name != "connection"] == sorted(expected)
    allowed = answer.header("Allow")
    assert frozenset(allowed.replace(" ", "").split(",") if allowed else ()) == allow
    problem = json.loads(answer.body)
    assert list(problem) == ["type", "title", "status", "detail"]
    assert (problem["type"], problem["title"], problem["status"]) == ("about:blank", TITLES[status], status)
    assert problem["detail"].endswith(".")
    assert b"xception" not in answer.body
    assert b" at " not in answer.body.replace(b"nothing at this path", b"").replace(b"at least one", b"")
