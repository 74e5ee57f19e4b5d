"""Every endpoint gives the same bytes and the same headers whatever the approach."""

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from approach import Approach
from cases import GOOD_REQUESTS, MOVIES_BODY, SENT_MOVIES
from conftest import Golden
from wire import chunked, get, post_json

TYPES = {"/capabilities": "text/plain;charset=UTF-8", "/httpbin/block/{seconds}": "text/plain;charset=UTF-8"}


@pytest.mark.parametrize("endpoint", GOOD_REQUESTS)
async def test_has_length_type_and_date_and_no_other_header(approach: Approach, endpoint: str) -> None:
    answer = await approach.ask(GOOD_REQUESTS[endpoint])
    assert (answer.version, answer.status) == ("HTTP/1.1", 200)
    assert [name for name in answer.names if name != "connection"] == ["content-length", "content-type", "date"]
    assert answer.header("Content-Type") == TYPES.get(endpoint, "application/json")
    date = parsedate_to_datetime(answer.header("Date") or "")
    assert abs(date.timestamp() - time.time()) < 20


@pytest.mark.parametrize(("director", "films"), [("Kubrick", 2), ("Allen", 3), ("Hitchcock", 3)])
async def test_movies_are_the_films_of_the_director(
    approach: Approach, golden: Golden, director: str, films: int
) -> None:
    answer = await approach.ask(get(f"/movies?directorLastName={director}&delayInMillis=0"))
    golden(f"movies-{director}.json", answer.body)
    movies = json.loads(answer.body)
    assert len({movie["title"] for movie in movies}) == films
    assert all(movie["directors"][0]["lastName"] == director for movie in movies)


async def test_posted_movies_come_back_without_white_space(approach: Approach, golden: Golden) -> None:
    answer = await approach.ask(post_json("/movies?delayInMillis=0", MOVIES_BODY))
    golden("movies-posted.json", answer.body)
    assert json.loads(answer.body) == SENT_MOVIES
    assert answer.body == json.dumps(SENT_MOVIES, ensure_ascii=False, separators=(",", ":")).encode()


async def test_a_chunked_body_is_read_like_any_other(approach: Approach, golden: Golden) -> None:
    answer = await approach.ask(chunked("POST", "/movies?delayInMillis=0", MOVIES_BODY))
    golden("movies-posted.json", answer.body)


async def test_a_body_of_1_mib_is_read(approach: Approach, golden: Golden) -> None:
    answer = await approach.ask(post_json("/movies?delayInMillis=0", MOVIES_BODY.ljust(1 << 20)))
    golden("movies-posted.json", answer.body)


def with_unknown_members(value: Any) -> Any:
    """The same JSON with one more member in every object."""
    if isinstance(value, list):
        return [with_unknown_members(each) for each in value]
    if isinstance(value, dict):
        return {"unknown": {"any": [1]}} | {name: with_unknown_members(each) for name, each in value.items()}
    return value


async def test_unknown_members_of_a_body_are_ignored(approach: Approach, golden: Golden) -> None:
    body = json.dumps(with_unknown_members(SENT_MOVIES)).encode()
    answer = await approach.ask(post_json("/movies?delayInMillis=0", body))
    golden("movies-posted.json", answer.body)


@pytest.mark.parametrize("kind", ["application/json;charset=UTF-8", "Application/JSON; charset=utf-8"])
async def test_a_json_type_may_have_parameters(approach: Approach, kind: str) -> None:
    raw = post_json("/movies?delayInMillis=0", MOVIES_BODY).replace(b"application/json", kind.encode())
    assert (await approach.ask(raw)).status == 200


async def test_posted_movies_are_not_stored(approach: Approach) -> None:
    await approach.ask(post_json("/movies?delayInMillis=0", MOVIES_BODY))
    director = SENT_MOVIES[0]["directors"][0]["lastName"]
    answer = await approach.ask(get(f"/movies?directorLastName={director}&delayInMillis=0"))
    assert answer.status == 404


@pytest.mark.parametrize(
    "target",
    [
        "/epoch-millis?delayInMillis=300",
        "/epoch-millis?delayCallDepth=ignored&delayInMillis=300",
        "/epoch-millis/any?delayInMillis=300",
        "/epoch-millis/any?delayMillis=300",
        "/epoch-millis/any?delayInMillis=ignored&delayMillis=300",
        "/pinned?delayInMillis=300",
    ],
)
async def test_tells_the_time_after_the_delay(approach: Approach, target: str) -> None:
    asked_ms = time.time() * 1000
    answer = await approach.ask(get(target))
    now_ms = time.time() * 1000
    assert asked_ms + 298 <= int(answer.body) <= now_ms + 2


@pytest.mark.parametrize("endpoint", ["/movies", "POST /movies"])
async def test_movies_come_after_the_delay(approach: Approach, endpoint: str) -> None:
    raw = GOOD_REQUESTS[endpoint].replace(b"delayInMillis=0", b"delayInMillis=300")
    started = time.monotonic()
    assert (await approach.ask(raw)).status == 200
    assert time.monotonic() - started >= 0.298
