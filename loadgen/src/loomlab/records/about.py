"""What an approach tells of itself in GET /about."""

from typing import Any


def backend_pool(about: Any) -> int | None:
    """The most backend connections to one address."""
    try:
        limit = about["outbound"]["max_connections_per_route"]
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None


def platform_threads(about: Any) -> int | None:
    """The most worker threads, where they are platform threads."""
    try:
        limit = about["inbound"]["max_threads"] if about["concurrency"] == "platform-threads" else None
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None
