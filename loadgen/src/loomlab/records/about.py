"""What an approach tells of itself in GET /about; None where it does not."""

from typing import Any


def backend_pool(about: Any) -> int | None:
    """The most backend connections to one address."""
    return _number(about, "outbound", "max_connections_per_route")


def processors(about: Any) -> int:
    """The CPUs that its JVM takes itself to have; 1 where it does not tell."""
    return _number(about, "jvm", "available_processors") or 1


def platform_threads(about: Any) -> int | None:
    """The most worker threads, where they are platform threads."""
    threads = _number(about, "inbound", "max_threads")
    return threads if threads is not None and about.get("concurrency") == "platform-threads" else None


def _number(about: Any, part: str, name: str) -> int | None:
    try:
        value = about[part][name]
    except (TypeError, KeyError):
        return None
    return value if isinstance(value, int) else None
