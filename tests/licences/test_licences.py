import json
from pathlib import Path

import licences
import pytest
from licences import Component


@pytest.mark.parametrize(
    ("licence", "passes"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("AGPL-3.0 OR Apache-2.0", True),
        ("EPL-2.0 OR (MIT AND (ISC OR GPL-2.0))", True),
        ("Apache License, Version 2.0", True),
        ("Apache License Version 2.0", True),
        ("Apache License 2.0", True),
        ("Apache License 1.1", False),
        ("MIT AND AGPL-3.0", False),
        ("(MIT OR Apache-2.0) AND SSPL-1.0", False),
        ("MIT OR Apache-2.0) AND SSPL-1.0", False),
        ("AGPL-3.0-only", False),
        ("GNU Affero General Public License v3", False),
        ("SSPL-1.0", False),
        ("MPL-2.0", False),
        ("Apache-2.0 WITH Commons-Clause", False),
        ("Apache License, Version 2.0 and the Commons Clause", False),
        ("UNLICENSED", False),
        ("", False),
        ("()", False),
    ],
)
def test_a_licence_passes_only_if_it_is_permissive(licence: str, passes: bool) -> None:
    component = Component("rust", "thing", "1.2", licence)
    said = licences.faults({component}, {})
    assert (said == []) == passes
    assert passes or all(word in said[0] for word in ("rust thing 1.2 ", licences.spdx(licence), licences.FILE))


def test_an_exception_holds_for_its_licence_alone_and_fails_when_it_meets_nothing() -> None:
    exceptions = {"java": {"logback-*": ["EPL-2.0", "Spring Boot's logging"]}}
    logback = Component("java", "logback-core", "1.5", "EPL 2.0")
    assert licences.faults({logback}, exceptions) == []
    # The component, and the line that no longer serves.
    assert len(licences.faults({logback._replace(licence="AGPL-3.0")}, exceptions)) == 2
    assert len(licences.faults({logback._replace(ecosystem="npm")}, exceptions)) == 2
    assert len(licences.faults({logback._replace(licence="MIT")}, exceptions)) == 1
    assert len(licences.faults(set(), exceptions)) == 1


def python_package(folder: Path, about: str) -> None:
    (folder / "thing-1.2.dist-info").mkdir()
    (folder / "thing-1.2.dist-info/METADATA").write_text(f"Metadata-Version: 2.4\nName: thing\nVersion: 1.2\n{about}")


@pytest.mark.parametrize(
    ("about", "licence"),
    [
        ("License-Expression: AGPL-3.0-only\nClassifier: License :: OSI Approved :: MIT License\n", "AGPL-3.0-only"),
        ("License: SSPL\n", "SSPL"),
        ("", ""),
        (
            "Classifier: License :: OSI Approved :: MIT License\nClassifier: License :: OSI Approved :: AGPL\n",
            "MIT License AND AGPL",
        ),
        (
            "Classifier: License :: OSI Approved :: MIT License\nClassifier: License :: Other/Proprietary License\n",
            "MIT License AND Other/Proprietary License",
        ),
    ],
)
def test_python_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, about: str, licence: str) -> None:
    python_package(tmp_path, about)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    found = licences.python_packages()
    assert found == [Component("python", "thing", "1.2", licence)]
    assert len(licences.faults(set(found), {})) == 1


@pytest.mark.parametrize("about", [{"license": "AGPL-3.0"}, {"license": "SSPL-1.0"}, {}])
def test_npm_packages(tmp_path: Path, about: dict[str, str]) -> None:
    package = tmp_path / "dclint/node_modules/@lab/thing"
    (package / "esm").mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"name": "@lab/thing", "version": "1.2"} | about))
    (package / "esm/package.json").write_text('{"type": "module"}')
    found = licences.npm_packages(tmp_path)
    assert found == [Component("npm", "@lab/thing", "1.2", about.get("license", ""))]
    assert len(licences.faults(set(found), {})) == 1


def pom(name: str, *inside: str) -> str:
    text = f"<artifactId>{name}</artifactId><version>1.2</version>{''.join(inside)}"
    return f'<project xmlns="http://maven.apache.org/POM/4.0.0">{text}</project>'


def under(*names: str) -> str:
    return f"<licenses>{''.join(f'<license><name>{name}</name></license>' for name in names)}</licenses>"


@pytest.mark.parametrize(
    ("parent", "own", "licence"),
    [
        (under("SSPL-1.0"), "", "SSPL-1.0"),
        (under("MIT"), under("AGPL-3.0"), "AGPL-3.0"),
        ("", "", ""),
        ("", under("EPL-2.0", "LGPL-2.1-only"), "EPL-2.0 OR LGPL-2.1-only"),
    ],
)
def test_jars(tmp_path: Path, parent: str, own: str, licence: str) -> None:
    (tmp_path / "jars").write_text("big-thing-1.2-linux-x86_64.jar\nno-pom-3.jar\n")
    (tmp_path / "parent-1.2.pom").write_text(pom("parent", parent))
    of = "<parent><artifactId>parent</artifactId><version>1.2</version></parent>"
    (tmp_path / "big-thing-1.2.pom").write_text(pom("big-thing", of, own))
    big, without = licences.jars(tmp_path)
    assert big == Component("java", "big-thing", "1.2", licence)
    assert without.licence == ""
    assert len(licences.faults({big, without}, {})) == 2


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("FROM mongo:8 AS database", "image mongo"),
        ("FROM base\nCOPY --from=grafana/k6:1.8.1 /usr/bin/k6 /usr/bin/", "image grafana/k6"),
        ("services:\n  database:\n    image: mongo:8", "image mongo"),
        ("export X_IMAGE=mongo # a note", "image mongo # a note"),
        ("RUN apt-get update \\\n    && apt-get install -y ghostscript \\\n    && true", "debian ghostscript"),
        ("ADD https://k6.io/k6 /usr/bin/", "download ADD https://k6.io/k6 /usr/bin/"),
        ("RUN cd / && curl k6.io", "download curl k6.io"),
        ("RUN go install go.k6.io/k6@v1.8.1", "download RUN go install go.k6.io/k6@v1.8.1"),
    ],
)
def test_what_a_recipe_takes_must_be_named(tmp_path: Path, line: str, name: str) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text(
        f"ARG PYTHON_IMAGE\nFROM ${{PYTHON_IMAGE}} AS base\nFROM base\n# FROM k6\nRUN go install tool\n{line}\n"
    )
    found = licences.recipes([file])
    assert [f"{component.ecosystem} {component.name}" for component in found] == [name]
    assert len(licences.faults(set(found), {})) == 1


def test_an_ecosystem_of_which_nothing_was_found_fails(tmp_path: Path) -> None:
    (tmp_path / "java").mkdir()
    (tmp_path / "java/jars").write_text("thing-1.jar\n")
    (tmp_path / "java/thing-1.pom").write_text(pom("thing", under("MIT")))
    (tmp_path / ".env").write_text("GO_IMAGE=golang:1.26\n")
    (tmp_path / "exceptions.toml").write_text('[image]\ngolang = ["", "builds"]\n')
    for ecosystem in ("go", "rust", "python", "npm"):
        assert len(licences.check(tmp_path, tmp_path / "exceptions.toml", tmp_path / ".env")) == 1
        (tmp_path / f"{ecosystem}.tsv").write_text(f"{ecosystem}\tthing\t1\tMIT\n")
    assert licences.check(tmp_path, tmp_path / "exceptions.toml", tmp_path / ".env") == []
