"""Draws which room of loomlab imports which, as Mermaid: python tests/rooms.py."""

from collections import Counter

import grimp


def drawing() -> str:
    """One arrow a pair of rooms, with the number of imports."""
    graph = grimp.build_graph("loomlab")
    arrows = Counter(
        (room(importer), room(imported))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if room(importer) not in {room(imported), "__main__"}
    )
    lines = [f"  {above} -->|{count}| {below}" for (above, below), count in sorted(arrows.items())]
    return "\n".join(["flowchart TD", *lines])


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


if __name__ == "__main__":
    print(drawing())  # noqa: T201
