"""Groups of alike items."""

from collections.abc import Callable, Iterable


def grouped[K, V](items: Iterable[V], key: Callable[[V], K]) -> dict[K, list[V]]:
    """The items by their keys, both in their order."""
    groups: dict[K, list[V]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
