"""What the lab has, read from the checkout."""

from pathlib import Path
from typing import Any

import yaml

from loomlab.plan.scenarios import model
from loomlab.plan.variables import Words


class Lab:
    """The checkout at `root`; the scenarios are where the load generator finds the bodies of their requests, too."""

    def __init__(self, root: Path, scenarios: Path) -> None:
        self.sizes = root / "sizes"
        self.papers = root / "loadgen" / "published"
        self.scenarios = scenarios
        lines = (root / ".env").read_text(encoding="utf-8").splitlines()
        self.defaults = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        services = yaml.safe_load((root / "compose.yaml").read_text(encoding="utf-8"))["services"]
        self.approaches = _of_profile(services, "all")
        self.headline = _of_profile(services, "headline")
        self.idiomatic = _of_profile(services, "idiomatic")
        self.colours = {name: services[name]["x-colour"] for name in self.approaches if "x-colour" in services[name]}

    @property
    def words(self) -> Words:
        """What variables may name."""
        sizes = sorted(path.stem for path in self.sizes.glob("*.env"))
        return Words(self.approaches, sizes, model.names(self.scenarios), model.names(self.papers))

    def named(self, approaches: str) -> list[str]:
        """`headline`, `all`, or names with commas between them."""
        named = {"headline": self.headline, "all": self.approaches}.get(approaches) or approaches.split(",")
        return list(dict.fromkeys(named))


def _of_profile(services: dict[str, Any], profile: str) -> list[str]:
    """Of compose.yaml, which describes every approach."""
    return [name for name, service in services.items() if profile in service.get("profiles", [])]
