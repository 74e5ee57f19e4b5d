"""What an approach tells of itself in GET /about."""

from typing import Any


def backend_pool(about: Any) -> int | None:
    """The most backend connections to one address."""
    try:
        limit = about["outbound"]["max_connections_per_route"]
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None


def processors(about: Any) -> int:
    """The CPUs that its JVM takes itself to have; 1 where it does not tell."""
    try:
        cpus = about["jvm"]["available_processors"]
    except (TypeError, KeyError):
        return 1
    return cpus if isinstance(cpus, int) else 1


def platform_threads(about: Any) -> int | None:
    """The most worker threads, where they are platform threads."""
    try:
        limit = about["inbound"]["max_threads"] if about["concurrency"] == "platform-threads" else None
    except (TypeError, KeyError):
        return None
    return limit if isinstance(limit, int) else None
