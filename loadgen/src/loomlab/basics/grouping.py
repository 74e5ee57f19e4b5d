"""Groups of alike items, and sets of CPUs."""

from collections.abc import Callable, Iterable

MOST_CPUS = 4096  # that Linux knows on any machine


def grouped[K, V](items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def parse_cpu_list(cpus: str) -> set[str] | None:
    """A cpuset list such as `0-2,5` as CPU numbers; None (all CPUs) for an empty one; ValueError for another text."""
    if not cpus.strip():
        return None
    numbers: set[str] = set()
    named = 0
    for part in cpus.split(","):
        first, _, last = part.strip().partition("-")
        named += 1 + int(last or first) - int(first)
        if not int(first) <= int(last or first) < MOST_CPUS or named > MOST_CPUS:
            raise ValueError(f"{part!r} names no CPUs")
        numbers |= {str(number) for number in range(int(first), int(last or first) + 1)}
    return numbers
