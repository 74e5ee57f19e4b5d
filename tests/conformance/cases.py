"""What an approach must refuse, and what a backend can do wrong."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from backend import Reply, Then, http, json_reply
from wire import chunked, get, post_json, request

TITLES = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    409: "Conflict",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
}
MAY_CLOSE = {400, 413}
MOVIE = b'{"id":"x1","title":"Title","directors":[{"lastName":"Anyone"}]}'
SENT_MOVIES: list[dict[str, Any]] = [
    {
        "id": "tt0050976",
        "title": "Det sjunde inseglet",
        "releaseYear": 1957,
        "genre": "Drama",
        "actors": [
            {"person": {"firstName": "Bengt", "lastName": "Ekerot", "birthday": "1920-02-08"}, "role": "Döden"},
        ],
        "directors": [{"firstName": "Ingmar", "lastName": "Bergman", "birthday": "1918-07-14"}],
        "writers": [],
        "awards": [{"name": "Prix spécial du Jury", "year": 1957}],
        "rating": 8.1,
    },
]
MOVIES_BODY = json.dumps(SENT_MOVIES, ensure_ascii=False, indent=2).encode()
GOOD_REQUESTS = {
    "/capabilities": get("/capabilities"),
    "/meetings": get("/meetings", Authorization="any"),
    "/epoch-millis": get("/epoch-millis?delayInMillis=0"),
    "/movies": get("/movies?directorLastName=Kubrick&delayInMillis=0"),
    "POST /movies": post_json("/movies?delayInMillis=0", MOVIES_BODY),
    "/httpbin/block/{seconds}": get("/httpbin/block/0"),
    "/pinned": get("/pinned?delayInMillis=0"),
    "/about": get("/about"),
}
BACKEND_CALLS = [
    ("/capabilities", "/authentication"),
    ("/capabilities", "/authorization/"),
    ("/capabilities", "/capabilities/"),
    ("/meetings", "/authenticate"),
    ("/meetings", "/authorize"),
    ("/meetings", "/meetings"),
    ("/httpbin/block/{seconds}", "/delay/"),
]
LONG_BODY = b"[" + MOVIE + b" " * (2 << 20) + b"]"


def one_by_day_of(many: int, cases: Iterable[tuple[Any, ...]]) -> list[Any]:
    """All of the cases at night, by day every so many-th."""
    return [pytest.param(*case, marks=[pytest.mark.night] if index % many else []) for index, case in enumerate(cases)]


def name_of(value: object) -> str | None:
    """The name of a case in the name of its test; None where pytest knows better."""
    return getattr(value, "name", None)


@dataclass(frozen=True)
class Refusal:
    """A bad request; kind names the golden body, which many requests may share."""

    name: str
    kind: str
    status: int
    raw: bytes
    allow: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Trouble:
    """A wrong reply of the backend, and the status that the approach must make of it."""

    name: str
    status: int
    reply: Reply


WRONG_DELAYS = {
    "missing": None,
    "empty": "",
    "word": "soon",
    "negative": "-1",
    "fraction": "1.5",
    "above-the-limit": "60001",
    "ten-digits": str(2**32 + 5),  # 5 to a parser that overflows
    "twenty-digits": "99999999999999999999",
    "signed": "%2B5",
    "spaced": "%205",
}


def _delays() -> list[Refusal]:
    refusals = []
    for kind, value in WRONG_DELAYS.items():
        delay = "" if value is None else f"delayInMillis={value}"
        golden = "delay-missing" if not value else f"delay-{kind}"
        for name, raw in {
            "epoch-millis": get(f"/epoch-millis?{delay}"),
            "pinned": get(f"/pinned?{delay}"),
            "movies": get(f"/movies?directorLastName=Kubrick&{delay}"),
            "post-movies": post_json(f"/movies?{delay}", b"[" + MOVIE + b"]"),
        }.items():
            refusals.append(Refusal(f"{name}-delay-{kind}", golden, 400, raw))
    return [
        *refusals,
        Refusal("epoch-millis-of-path-missing", "delay-of-path-missing", 400, get("/epoch-millis/any")),
        Refusal("epoch-millis-of-path-word", "delay-of-path-word", 400, get("/epoch-millis/any?delayMillis=soon")),
        Refusal("epoch-millis-of-path-other-word", "delay-word", 400, get("/epoch-millis/any?delayInMillis=soon")),
    ]


WRONG_CPU_MICROS = {
    "word": "soon",
    "negative": "-1",
    "fraction": "1.5",
    "above-the-limit": "1000001",
    "twenty-digits": "99999999999999999999",
}
WRONG_CALLS = {"word": "all", "zero": "0", "negative": "-1", "above-the-limit": "21"}
WRONG_PARALLEL = {"word": "yes", "upper-case": "TRUE"}


def _work() -> list[Refusal]:
    asking = {
        "capabilities": "/capabilities?",
        "epoch-millis": "/epoch-millis?delayInMillis=0&",
        "epoch-millis-of-path": "/epoch-millis/any?delayMillis=0&",
    }
    return [
        *(
            Refusal(f"{name}-cpu-micros-{kind}", f"cpu-micros-{kind}", 400, get(f"{target}cpuMicros={value}"))
            for name, target in asking.items()
            for kind, value in WRONG_CPU_MICROS.items()
        ),
        *(Refusal(f"calls-{k}", f"calls-{k}", 400, get(f"/capabilities?calls={v}")) for k, v in WRONG_CALLS.items()),
        *(
            Refusal(f"parallel-{kind}", f"parallel-{kind}", 400, get(f"/capabilities?calls=2&parallel={value}"))
            for kind, value in WRONG_PARALLEL.items()
        ),
    ]


def _directors() -> list[Refusal]:
    return [
        Refusal("director-missing", "director-missing", 400, get("/movies?delayInMillis=0")),
        Refusal("director-empty", "director-missing", 400, get("/movies?delayInMillis=0&directorLastName=")),
        Refusal("director-unknown", "director-unknown", 404, get("/movies?delayInMillis=0&directorLastName=Lucas")),
        Refusal(
            "director-in-lower-case", "director-unknown", 404, get("/movies?delayInMillis=0&directorLastName=allen")
        ),
    ]


def _bodies() -> list[Refusal]:
    bodies = {
        "empty": b"",
        "broken": b'[{"id":"x1","title":',
        "object": b"{}",
        "empty-array": b"[]",
        "null": b"null",
        "array-of-null": b"[null]",
        "array-of-words": b'["Title"]',
        "wrong-type": MOVIE.join([b"[", b"]"]).replace(b'"Title"', b'"Title","releaseYear":"soon"'),
        "no-title": MOVIE.join([b"[", b"]"]).replace(b'"title"', b'"titel"'),
        "trailing": MOVIE.join([b"[", b"]]"]),
        "not-utf-8": MOVIE.join([b"[", b"]"]).replace(b"Title", b"\xff\xfe"),
    }
    target = "/movies?delayInMillis=0"
    movies = b"[" + MOVIE + b"]"
    return [
        *(Refusal(f"body-{name}", "body-unusable", 400, post_json(target, body)) for name, body in bodies.items()),
        Refusal("body-too-long", "body-too-long", 413, post_json(target, LONG_BODY)),
        Refusal("body-too-long-chunked", "body-too-long", 413, chunked("POST", target, LONG_BODY)),
        Refusal("body-a-byte-too-long", "body-too-long", 413, post_json(target, movies.ljust((1 << 20) + 1))),
        Refusal("body-far-too-long", "body-too-long", 413, post_json(target, movies.ljust(4 << 20))),
        Refusal("type-missing", "type-wrong", 415, request("POST", target, body=movies)),
        *(
            Refusal(f"type-{name}", "type-wrong", 415, request("POST", target, {"Content-Type": kind}, movies))
            for name, kind in {
                "text": "text/plain",
                "other-json": "application/jsonp",
                "nonsense": "json",
                "form": "application/x-www-form-urlencoded",
            }.items()
        ),
    ]


def _methods() -> list[Refusal]:
    targets = [
        "/capabilities",
        "/meetings",
        "/epoch-millis?delayInMillis=0",
        "/epoch-millis/any?delayMillis=0",
        "/pinned",
        "/httpbin/block/0",
        "/about",
    ]
    refusals = [
        Refusal(f"{method}-{target}", "method-wrong", 405, request(method, target, body=b""), frozenset({"GET"}))
        for target in targets
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS")
    ]
    both = frozenset({"GET", "POST"})
    return [
        Refusal("DELETE-/movies", "method-wrong", 405, request("DELETE", "/movies"), both),
        *refusals,
        Refusal("PUT-/movies", "method-wrong", 405, request("PUT", "/movies", body=b"[]"), both),
        Refusal("OPTIONS-/movies", "method-wrong", 405, request("OPTIONS", "/movies"), both),
    ]


def _paths() -> list[Refusal]:
    targets = [
        "/nowhere",
        "/",
        "/movies/1",
        "/epoch-millis/any/other?delayMillis=0",
        "/httpbin/block",
        "/httpbin/block/",
        "/httpbin/block/1/2",
        "/actuator/health",
        "/orders/42",
        "/orders?customer=7",
        "/orders/slow?millis=0",
    ]
    seconds = {"word": "soon", "negative": "-1", "above-the-limit": "61", "just-above": "60.001", "exact": "0.0001"}
    return [
        *(Refusal(f"path-{target}", "path-unknown", 404, get(target)) for target in targets),
        *(Refusal(f"seconds-{k}", f"seconds-{k}", 400, get(f"/httpbin/block/{v}")) for k, v in seconds.items()),
        Refusal("authorization-missing", "authorization-missing", 401, get("/meetings")),
        Refusal("authorization-empty", "authorization-missing", 401, get("/meetings", Authorization="")),
    ]


def _two_faults() -> list[Refusal]:
    """Of two faults every approach tells the same: path, method, length, type, delay, then what is asked for."""
    get_only = frozenset({"GET"})
    unknown_director = "/movies?directorLastName=Lucas"
    return [
        Refusal("path-and-method", "path-unknown", 404, request("DELETE", "/nowhere")),
        Refusal("method-and-seconds", "method-wrong", 405, request("DELETE", "/httpbin/block/soon"), get_only),
        Refusal("length-and-type", "body-too-long", 413, request("POST", "/movies?delayInMillis=0", body=LONG_BODY)),
        Refusal("length-and-delay", "body-too-long", 413, post_json("/movies", LONG_BODY)),
        Refusal("type-and-delay", "type-wrong", 415, request("POST", "/movies", body=b"[]")),
        Refusal("delay-and-body", "delay-missing", 400, post_json("/movies", b"[]")),
        Refusal("delay-and-no-director", "delay-missing", 400, get("/movies")),
        Refusal("delay-and-unknown-director", "delay-missing", 400, get(unknown_director)),
        Refusal("delay-and-work", "delay-of-path-missing", 400, get("/epoch-millis/any?cpuMicros=soon")),
    ]


REFUSALS = [*_delays(), *_work(), *_directors(), *_bodies(), *_methods(), *_paths(), *_two_faults()]
ONE_REFUSAL_OF_EACH_KIND = list({refusal.kind: refusal for refusal in reversed(REFUSALS)}.values())

GOOD = "ROLE_1"
SILENCE = Trouble("silent", 504, Reply(None))
HEAD_OF_A_BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n"
SILENT_TROUBLES = [
    SILENCE,
    Trouble("stalls-before-the-body", 504, Reply(HEAD_OF_A_BODY)),
    Trouble("stalls-within-the-body", 504, Reply(HEAD_OF_A_BODY + b'{"userId":')),
]
PROMPT_TROUBLES = [
    Trouble("resets", 502, Reply(b"", then=Then.RESET)),
    Trouble("hangs-up", 502, Reply(b"", then=Then.CLOSE)),
    Trouble("sends-garbage", 502, Reply(b"\x00\xff no HTTP at all\r\n\r\n", then=Then.CLOSE)),
    Trouble("breaks-off", 502, Reply(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nROLE", then=Then.CLOSE)),
    Trouble("sends-nothing", 502, http("")),
    Trouble("answers-500", 502, http(GOOD, "500 Internal Server Error")),
    Trouble("answers-503", 502, http(GOOD, "503 Service Unavailable", header="Retry-After: 0\r\n")),
    Trouble("answers-404", 502, http(GOOD, "404 Not Found")),
    Trouble("answers-302", 502, http(GOOD, "302 Found", header="Location: /authentication\r\n")),
    Trouble("answers-201", 502, http(GOOD, "201 Created")),
    Trouble("answers-204", 502, Reply(b"HTTP/1.1 204 No Content\r\n\r\n")),
]
UNUSABLE_REPLIES: Mapping[str, tuple[str, str, Reply]] = {
    "token-with-spaces": ("/capabilities", "/authentication", http("no token at all")),
    "token-with-line-end": ("/capabilities", "/authentication", http("abc\r\nX-Y: z")),
    "token-with-slash": ("/capabilities", "/authentication", http("../admin")),
    "token-too-long": ("/capabilities", "/authentication", http("a" * 65)),
    "role-with-query": ("/capabilities", "/authorization/", http("ADMIN?all=true")),
    "user-is-no-json": ("/meetings", "/authenticate", http("user-1", kind="application/json")),
    "user-is-missing": ("/meetings", "/authenticate", json_reply({"name": "x"})),
    "user-with-ampersand": ("/meetings", "/authenticate", json_reply({"userId": "a&id=b"})),
    "authorities-are-missing": ("/meetings", "/authorize", json_reply({})),
    "authorities-are-no-array": ("/meetings", "/authorize", json_reply({"authorities": {"get-meetings": True}})),
}
