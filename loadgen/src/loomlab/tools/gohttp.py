"""What hey and vegeta share: both send by Go's net/http, and name its errors."""

import re

LONGEST_REASON = 60

_REQUEST = re.compile(r'^\w+ "[^"]*": ')
_ADDRESSES = re.compile(r"\b(?:read|write|dial) tcp \S+: ")
_REASONS = (
    ("lookup ", "no address"),
    ("no such host", "no address"),
    ("deadline exceeded", "time-out"),
    ("Client.Timeout", "time-out"),
    ("i/o timeout", "time-out"),
    ("timed out", "time-out"),
    ("connection refused", "connection refused"),
    ("connection reset", "connection reset"),
    ("unexpected EOF", "answer cut short"),
    ("EOF", "connection closed"),
    ("broken pipe", "connection closed"),
    ("server closed idle connection", "connection closed"),
)


def reason(error: str) -> str:
    """A short reason for an error of net/http: its kind, else its first 60 characters without URL and addresses (they
    hold a port, so that each error would be a reason of its own)."""
    text = _REQUEST.sub("", error)
    kind = next((name for words, name in _REASONS if words in text), None)
    return kind or _ADDRESSES.sub("", text).strip()[:LONGEST_REASON] or "no reason given"


def is_success(status: int) -> bool:
    """2xx: neither hey nor vegeta follows a redirect here, so that one is no success."""
    return 200 <= status <= 299
