"""What the clients of the five published benchmarks send, by method, path, headers and body, and where that is told.

The bodies are of the published shapes, with films of our own. Later versions of loom-webflux-benchmarks put the name of
their approach before the path, as a part of the base URL; it is left out here. Drivers that start a server of their own
probe it with `curl --head --fail` until it is up. That is no load, and is refused. docs/how-to/reproduce.md says what
to do."""

import json
from dataclasses import dataclass
from typing import Any

from wire import request

BARLAS = "https://github.com/ebarlas/project-loom-comparison/blob/1869f2084060e8757e470e8bb1ad84d4ccd9ad3e"
HPOETTKER = "https://github.com/hpoettker/project-loom-comparison/blob/dbeffa32c292dc62fba642e3e76142a63bf1d8af"
GLEISSNER = "https://github.com/chrisgleissner/loom-webflux-benchmarks/blob"
VEGETA = f"{GLEISSNER}/00a01f032bb7a363f29f4bcb8068801bc78b9592"
EARLIER = f"{GLEISSNER}/0c437039708161ea8b433af8c33e9f0575203649"
CONFIG = f"{GLEISSNER}/3809bed3b31dfbc93bbb882696b0546371fe78d1/config"
LATER = f"{GLEISSNER}/fa700f1ee46d7fa4166289e160a790f9b92ed462/src/main/resources/scenarios"
LATER_MOVIES = f"{GLEISSNER}/4ad1bde508ac280d0af4f2be4663a2b0d21e7464/src/main/resources/scenarios/movies.json"

AB = {"Connection": "Keep-Alive", "User-Agent": "ApacheBench/2.3", "Accept": "*/*"}
K6 = {"User-Agent": "k6/0.50.0 (https://k6.io/)"}
K6_POST = K6 | {"Content-Type": "application/json", "Accept": "application/json"}

VARDA = {"firstName": "Agnès", "lastName": "Varda", "birthday": None}
FILM: dict[str, Any] = {
    "title": "Cléo de 5 à 7",
    "releaseYear": 1962,
    "genre": "DRAMA",
    "directors": [VARDA],
    "writers": [VARDA],
    "awards": [{"name": "Prix Méliès", "year": 1962}],
    "rating": 7.8,
}
ACTORS = {"id": "6be2c396-834d-44c5-8314-50b7144a3b75", "actors": [{"person": VARDA, "role": "Florence"}]}
CHARACTERS = {"characters": [{"actor": VARDA, "name": "Florence"}, {"actor": VARDA, "role": "Antoine"}]}


def _body(members: dict[str, Any]) -> bytes:
    return json.dumps([FILM | members], ensure_ascii=False, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Published:
    """A request of a published client; its source has the commit."""

    experiment: str
    source: str
    raw: bytes


PUBLISHED = {
    "spring-boot-edition": Published(
        "Project Loom Comparison (Spring Boot Edition)",
        f"{HPOETTKER}/README.md, ab -kl -c 20000 -n 2400000 http://…:8080/capabilities",
        request("GET", "/capabilities", AB, version="1.0"),
    ),
    "project-loom-comparison": Published(
        "Project Loom Comparison",
        f'{BARLAS}/README.md, ab -k -c 1000 -n 120000 -H "Authorization: token" http://…:9000/meetings',
        request("GET", "/meetings", AB | {"Authorization": "token"}, version="1.0"),
    ),
    "loom-webflux-benchmarks-earlier-time": Published(
        "loom-webflux-benchmarks",
        f"{EARLIER}/benchmark-scenario.sh with k6.js beside it",
        request("GET", "/epoch-millis/loom?delayInMillis=10", K6),
    ),
    "loom-webflux-benchmarks-time": Published(
        "loom-webflux-benchmarks", f"{CONFIG}/get-time.js", request("GET", "/epoch-millis?delayInMillis=10", K6)
    ),
    "loom-webflux-benchmarks-get": Published(
        "loom-webflux-benchmarks",
        f"{CONFIG}/get-movies.js",
        request("GET", "/movies?directorLastName=Allen&delayInMillis=10", K6),
    ),
    "loom-webflux-benchmarks-post": Published(
        "loom-webflux-benchmarks",
        f"{CONFIG}/get-post-movies-smooth-vus-spike.js with movies.json beside it",
        request("POST", "/movies?delayInMillis=10", K6_POST, _body(ACTORS)),
    ),
    "loom-webflux-benchmarks-later-time": Published(
        "loom-webflux-benchmarks",
        f"{LATER}/get-time.js",
        request("GET", "/epoch-millis?delayCallDepth=0&delayInMillis=10", K6),
    ),
    "loom-webflux-benchmarks-later-get": Published(
        "loom-webflux-benchmarks",
        f"{LATER}/get-post-movies-smooth-vus-spike.js",
        request("GET", "/movies?directorLastName=Allen&delayCallDepth=0&delayInMillis=10", K6),
    ),
    "loom-webflux-benchmarks-later-post": Published(
        "loom-webflux-benchmarks",
        f"{LATER}/get-post-movies-smooth-vus-spike.js with {LATER_MOVIES}",
        request("POST", "/movies?delayCallDepth=0&delayInMillis=10", K6_POST, _body(CHARACTERS)),
    ),
    "loom-vs-webflux": Published(
        "Loom vs Webflux",
        f"{VEGETA}/README.md, GET http://localhost:8080/epoch-millis/$approach?delayMillis=100 by vegeta",
        request(
            "GET", "/epoch-millis/loom?delayMillis=100", {"User-Agent": "Go-http-client/1.1", "Accept-Encoding": "gzip"}
        ),
    ),
    "virtual-threads-hey": Published(
        "Virtual Threads",
        "its README, whose address is not known, hey -n 100 -c 50 http://localhost:8080/httpbin/block/3",
        request(
            "GET",
            "/httpbin/block/0.003",
            {"User-Agent": "hey/0.0.1", "Content-Type": "text/html", "Accept-Encoding": "gzip"},
        ),
    ),
}
