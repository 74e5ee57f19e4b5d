"""The sides of `make compare`: one approach in several services, each with settings of its own."""

import re
from collections.abc import Iterator
from itertools import combinations

from loomlab.basics.errors import UsageError
from loomlab.plan.host import Lab
from loomlab.plan.variables import SIDED, VARIABLES, Asked
from loomlab.records.order import IMAGE, JAVA_OPTIONS, Side, Subject

ENVIRONMENT = "ENV:"
OPTIONS = {JAVA_OPTIONS, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}
EXAMPLE = 'A="GC=parallel" B="GC=g1"'


def sides_of(asked: Asked, lab: Lab, subject: Subject | None = None) -> dict[str, tuple[Side, Asked]]:
    """The sides by their services' names, each with what is then asked for; none for other verbs. Raises UsageError."""
    if asked.verb == "capacity" and not (asked.a or asked.b):
        if asked.limits:
            raise UsageError(f"FAIL={asked.given['FAIL']} holds one side against another: set A and B, too.")
        return {}
    if asked.verb not in SIDED:
        return {}
    if subject is None and asked.approach not in lab.approaches:
        fact = f"APPROACH={asked.approach} is several" if asked.approach else "APPROACH is not set"
        raise UsageError(
            f"{fact}: use one, such as APPROACH={lab.headline[0]}, or a service of yours by SUBJECTS or IMAGE."
        )
    written = {"a": asked.a or "", "b": asked.b or ""} | ({"c": asked.c} if asked.c else {})
    sides = {letter: _side(letter.upper(), text, asked, lab, subject) for letter, text in written.items()}
    for (one, (first, here)), (other, (second, there)) in combinations(sides.items(), 2):
        if _own(first) == _own(second) and here.settings == there.settings and here.jdk == there.jdk:
            both = f'{one.upper()}="{first.told}" and {other.upper()}="{second.told}"'
            raise UsageError(f"{both} are the same: use for instance {EXAMPLE}, or make sweep AA=1.")
    return {f"{asked.approach}-{letter}": side for letter, side in sides.items()}


def _own(side: Side) -> tuple[str | None, dict[str, str]]:
    """What it has beside variables of the lab, which may be set to what they are anyhow."""
    return None if "JDK" in side.settings else side.image, side.variables


def _side(letter: str, text: str, asked: Asked, lab: Lab, subject: Subject | None) -> tuple[Side, Asked]:
    parts, given = list(_parts(letter, text)), dict(asked.given)
    side = Side(told="; ".join(f"{name}={value}" for name, value in parts))
    approach = asked.approach or ""
    variables = {} if subject else lab.variables_of(approach)
    allowed = ["JVM_OPTS"] if subject else [name for name in VARIABLES if name in {*variables.values(), "JDK"}]
    for name, value in parts:
        if name == "IMAGE":
            if not re.fullmatch(IMAGE, value):
                raise UsageError(
                    f"{letter}: IMAGE={value:.60} is no name of an image: use for instance IMAGE=orders:1.5."
                )
            side.image = value
        elif subject and name in allowed:
            side.environment[JAVA_OPTIONS] = value
        elif name.startswith(ENVIRONMENT):
            variable = name.removeprefix(ENVIRONMENT)
            if variable in OPTIONS:
                raise UsageError(f"{letter}: {name} is for JVM options: use JVM_OPTS={value}.")
            if setting := variables.get(variable):
                raise UsageError(f"{letter}: {name} is what the lab sets by {setting}: use {setting}={value}.")
            side.environment[variable] = value
        elif name in allowed:
            side.settings[name] = given[name] = value
        else:
            cure = f"use {', '.join(allowed)}, IMAGE, or ENV:NAME for a variable of the container"
            raise UsageError(f"{letter}: {name} is nothing that one side may have of its own: {cure}.")
    own = lab.asked(asked.verb, given)
    side.settings = {name: own.settings.get(name, "") for name in side.settings}
    side.environment |= {
        variable: side.settings[setting] for variable, setting in variables.items() if setting in side.settings
    }
    if "JDK" in side.settings and side.image is None:
        side.image = lab.image_of(approach, own.jdk)
    return side, own


def _parts(letter: str, text: str) -> Iterator[tuple[str, str]]:
    seen = set[str]()
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals or not re.fullmatch(r"(ENV:)?[A-Za-z_][A-Za-z0-9_]*", name):
            raise UsageError(
                f"{letter}: {part!r:.60} is no NAME=VALUE: use for instance {EXAMPLE}, with ; between several."
            )
        if name in seen:
            raise UsageError(f"{letter}: {name} stands there twice: leave one out.")
        if not value.isprintable():
            raise UsageError(f"{letter}: the value of {name} has characters that cannot be printed: leave them out.")
        seen.add(name)
        yield name, value
