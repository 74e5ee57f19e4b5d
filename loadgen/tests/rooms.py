"""Draws which room of loomlab imports which, as Mermaid: python tests/rooms.py."""

import grimp


def drawing() -> str:
    """One arrow a pair of rooms."""
    graph = grimp.build_graph("loomlab", cache_dir=None)
    arrows = {
        (room(importer), room(imported))
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if room(importer) not in {room(imported), "__main__"}
    }
    lines = [f"  {above} --> {below}" for above, below in sorted(arrows)]
    return "\n".join(["flowchart TD", *lines])


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else module


if __name__ == "__main__":
    print(drawing())  # noqa: T201
