"""The licences of what the lab's images contain. `licences.py list` prints those of the image it runs in, a line for each Python and
npm package: ecosystem, name, version, licence, with tabs between. `licences.py check FOLDER ENV EXCEPTIONS` judges the lines of
FOLDER/*.tsv, the jars of FOLDER/java, and the images that ENV names."""

import json
import re
import sys
import tomllib
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree  # the POMs are those that Maven has read

PERMISSIVE = {
    *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0"),
    *("MIT-CMU", "PSF-2.0", "Python-2.0", "Unicode-3.0", "Unlicense", "Zlib"),
}
# What Python's classifiers, POMs and old crates say instead of an SPDX expression.
NAMES = {
    r"(The )?Apache( Software)? License(, Version 2\.0)?|Apache 2\.0": "Apache-2.0",
    r"MIT License": "MIT",
    r"BSD License": "BSD",
    r"ISC License \(ISCL\)": "ISC",
    r"Python Software Foundation License": "PSF-2.0",
    r"Public Domain, per Creative Commons CC0": "CC0-1.0",
    r"Mozilla Public License 2\.0 \(MPL 2\.0\)": "MPL-2.0",
    r"Eclipse Public License v\. 2\.0|EPL 2\.0": "EPL-2.0",
    r"GNU General Public License, version 2 with the GNU Classpath Exception|GPL2 w/ CPE": "GPL-2.0 WITH Classpath-exception-2.0",
    r"(?<=\w)/(?=\w)": " OR ",
}


class Component(NamedTuple):
    ecosystem: str
    name: str
    version: str
    licence: str


def spdx(licence: str) -> str:
    for name, identifier in NAMES.items():
        licence = re.sub(name, identifier, licence)
    return licence.strip()


def permissive(expression: str) -> bool:
    """Whether the licences of one choice (OR) all are (AND)."""
    while "(" in expression and (simpler := re.sub(r"\(([^()]*)\)", _value, expression)) != expression:
        expression = simpler
    return any(all(term.strip() in PERMISSIVE for term in choice.split(" AND ")) for choice in expression.split(" OR "))


def _value(group: re.Match[str]) -> str:
    return "MIT" if permissive(group[1]) else "not permissive"


def faults(components: set[Component], exceptions: dict[str, dict[str, list[str]]]) -> list[str]:
    """A sentence for each component whose licence is not permissive and that is no exception, and for each exception without one."""
    unused = {(ecosystem, name) for ecosystem, named in exceptions.items() for name in named}
    said = []
    for ecosystem, name, version, licence in sorted(components):
        if permissive(spdx(licence)):
            continue
        named = {pattern for pattern, told in exceptions.get(ecosystem, {}).items() if fnmatchcase(name, pattern) and told[0] == spdx(licence)}
        unused -= {(ecosystem, pattern) for pattern in named}
        if not named:
            under = f"is under '{spdx(licence)}', which is not permissive" if licence else "tells no licence"
            said.append(f"{ecosystem} {name} {version} {under}: replace it, or name it in tests/licences/exceptions.toml with the reason.")
    return said + [
        f"{ecosystem} {name} in tests/licences/exceptions.toml meets no component of that licence: delete it."
        for ecosystem, name in sorted(unused)
    ]


def python_packages() -> list[Component]:
    found = []
    for package in metadata.distributions():
        about = package.metadata.json
        classified = [c.rpartition(" :: ")[2] for c in about.get("classifier", []) if c.startswith("License :: OSI")]
        licence = about.get("license_expression") or " AND ".join(classified) or " ".join(str(about.get("license", "")).split())
        found.append(Component("python", about["name"], about["version"], licence))
    return found


def npm_packages(root: Path) -> list[Component]:
    told = [json.loads(file.read_text()) for file in root.glob("**/node_modules/**/package.json")]
    return [Component("npm", one["name"], one["version"], str(one.get("license", ""))) for one in told if "version" in one]


def jars(folder: Path) -> list[Component]:
    found = []
    for jar in (folder / "jars").read_text().splitlines():
        stem = jar.removesuffix(".jar")
        while "-" in stem and not (folder / f"{stem}.pom").exists():  # a classifier: netty-codec-native-quic-4.2.18.Final-linux-x86_64
            stem = stem.rpartition("-")[0]
        name, _, version = stem.rpartition("-")
        found.append(Component("java", name, version, " OR ".join(pom_licences(folder / f"{stem}.pom"))))
    return found


def pom_licences(pom: Path) -> list[str]:
    """Its licences, of which Maven says that one may choose, or those of the next parent that names any."""
    if not pom.exists():
        return []
    project = ElementTree.parse(pom).getroot()  # noqa: S314
    names = [name.text.strip() for name in project.iterfind("{*}licenses/{*}license/{*}name") if name.text]
    parent = project.find("{*}parent")
    if names or parent is None:
        return names
    return pom_licences(pom.with_name(f"{parent.findtext('{*}artifactId')}-{parent.findtext('{*}version')}.pom"))


def images(env: Path) -> list[Component]:
    return [Component("image", *image, "") for image in re.findall(r"^\w+_IMAGE=(\S+):(\S+)$", env.read_text(), re.MULTILINE)]


def check(folder: Path, env: Path, exceptions: Path) -> list[str]:
    lines = [line for file in folder.glob("*.tsv") for line in file.read_text().splitlines()]
    told = {Component(*line.split("\t")) for line in lines} | {*jars(folder / "java"), *images(env)}
    return faults(told, tomllib.loads(exceptions.read_text()))


if __name__ == "__main__":
    if sys.argv[1] == "list":
        for component in python_packages() + npm_packages(Path("/opt")):
            print("\t".join(component))
    else:
        sys.exit("\n".join(check(*map(Path, sys.argv[2:]))) or 0)
