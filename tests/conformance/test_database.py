"""What approaches with a database answer of it, also where it does not answer them; database.env starts one."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

import pytest

from approach import Approach, Settings, eventually
from cases import LONG_BODY, Refusal, name_of
from conftest import Golden
from database import Database
from problems import assert_problem
from wire import Answer, get, post_json, request

pytestmark = pytest.mark.database

ORDER = {"customer": 7, "product": "a product", "quantity": 3, "priceCents": 1250}
GET, BOTH = frozenset({"GET"}), frozenset({"GET", "POST"})
ASKED = {
    "/orders/{id}": get("/orders/42"),
    "/orders": get("/orders?customer=7"),
    "/orders/slow": get("/orders/slow?millis=20"),
    "POST /orders": post_json("/orders", json.dumps(ORDER).encode()),
}


def body(**changes: object) -> bytes:
    return json.dumps(ORDER | changes).encode()


REFUSALS = [
    *(
        Refusal(f"order-{kind}", f"order-{kind}", 400, get(f"/orders/{value}"))
        for kind, value in {"word": "first", "zero": "0", "negative": "-1", "ten-digits": "1000000000"}.items()
    ),
    Refusal("order-unknown", "order-unknown", 404, get("/orders/999999999")),
    Refusal("customer-missing", "customer-missing", 400, get("/orders")),
    Refusal("customer-word", "customer-word", 400, get("/orders?customer=me")),
    Refusal("millis-missing", "millis-missing", 400, get("/orders/slow")),
    Refusal("millis-above-the-limit", "millis-above-the-limit", 400, get("/orders/slow?millis=60001")),
    Refusal("order-of-nobody", "customer-unknown", 404, post_json("/orders", body(customer=999_999_999))),
    *(
        Refusal(f"body-{name}", "order-unusable", 400, post_json("/orders", raw))
        for name, raw in {
            "empty": b"",
            "array": b"[]",
            "no-product": body(product=None),
            "wide-product": body(product="Größe"),
            "no-quantity": body(quantity=0),
            "too-many": body(quantity=1_000_001),
            "word": body(priceCents="much"),
        }.items()
    ),
    Refusal("type", "type-wrong", 415, request("POST", "/orders", {"Content-Type": "text/plain"}, body())),
    Refusal("long", "body-too-long", 413, post_json("/orders", LONG_BODY)),
    Refusal("path", "path-unknown", 404, get("/orders/42/lines")),
    *(
        Refusal(f"{method}-{path}", "method-wrong", 405, request(method, path, body=b""), allow)
        for path, allow in {"/orders": BOTH, "/orders/42": GET, "/orders/slow": GET}.items()
        for method in ("PUT", "DELETE", "OPTIONS")
    ),
]


@pytest.fixture(scope="session")
async def running_database() -> AsyncIterator[Database]:
    database = Database()
    await database.listen()
    yield database
    database.refuse()


@pytest.fixture
async def database(running_database: Database, approach: Approach) -> Database:
    """The database, once the approach reaches it: a JVM remembers for ten seconds that there was no such name."""
    for _ in range(2):
        answer = await eventually(lambda: approach.ask(get("/orders/42")), lambda answer: answer.status == 200)
    assert answer.status == 200
    return running_database


@pytest.mark.parametrize("endpoint", ASKED)
async def test_has_length_type_and_date_and_no_other_header(
    approach: Approach, database: Database, endpoint: str
) -> None:
    assert database
    answer = await approach.ask(ASKED[endpoint])
    assert answer.status == (201 if endpoint.startswith("POST") else 200)
    assert [name for name in answer.names if name != "connection"] == ["content-length", "content-type", "date"]
    assert answer.header("Content-Type") == "application/json"


@pytest.mark.parametrize("target", ["/orders/42", "/orders/99999", "/orders?customer=7", "/orders/slow?millis=20"])
async def test_answers_have_the_same_bytes_everywhere(
    approach: Approach, database: Database, golden: Golden, target: str
) -> None:
    assert database
    answers = [await approach.ask(get(target)) for _ in range(3)]
    assert {answer.body for answer in answers} == {answers[0].body}
    golden(f"{target.translate(str.maketrans('/?=', '---'))[1:]}.json", answers[0].body)


async def test_a_customer_without_orders_has_none(approach: Approach, database: Database) -> None:
    assert database
    assert (await approach.ask(get("/orders?customer=3000"))).body == b"[]"


async def test_a_placed_order_is_there(approach: Approach, database: Database) -> None:
    assert database
    answer = await approach.ask(ASKED["POST /orders"])
    placed = json.loads(answer.body)
    assert answer.body == b'{"id":%d,"totalCents":3750}' % placed["id"]
    found = json.loads((await approach.ask(get(f"/orders/{placed['id']}"))).body)
    line = {"product": "a product", "quantity": 3, "priceCents": 1250}
    assert found == placed | {"customer": 7, "placedOn": found["placedOn"], "status": "new", "lines": [line]}
    assert list(found) == ["id", "customer", "placedOn", "status", "totalCents", "lines"]


async def test_orders_that_collide_are_tried_again_and_none_is_lost_or_there_twice(
    approach: Approach, database: Database, settings: Settings
) -> None:
    assert database
    retried = (await approach.scrape()).value("lab_database_retries_total")
    async with approach.crowd(settings["POOL"]) as crowd:
        answers = await crowd.ask_often(ASKED["POST /orders"], 20)
    assert {answer.status for answer in answers} <= {201, 409}
    for refused in (answer for answer in answers if answer.status == 409):
        assert_problem(refused, 409)
    ids = [json.loads(answer.body)["id"] for answer in answers if answer.status == 201]
    assert len(ids) == len(set(ids)) > 0
    for number in ids:
        assert (await approach.ask(get(f"/orders/{number}"))).status == 200
    assert (await approach.scrape()).value("lab_database_retries_total") > retried


@pytest.mark.parametrize("refusal", REFUSALS, ids=name_of)
async def test_what_is_wrong_is_refused(
    approach: Approach, database: Database, golden: Golden, refusal: Refusal
) -> None:
    assert database
    answer = await approach.ask(refusal.raw)
    assert_problem(answer, refusal.status, refusal.allow)
    golden(f"{refusal.kind}.json", answer.body)


async def test_about_tells_the_client_and_the_pool(
    approach: Approach, database: Database, settings: Settings, golden: Golden
) -> None:
    assert database
    for raw in ASKED.values():
        await approach.ask(raw)
    about = await approach.about()
    told, threads_wait = about["database"], approach.thread_kind != "event-loop"
    golden("about-database.json", json.dumps(list(told), indent=2).encode() + b"\n")
    assert told["client"] == ("jdbc" if threads_wait else "r2dbc")
    assert told["max_connections"] == settings["POOL"]
    assert told["connect_timeout_ms"] == settings["CONNECT_TIMEOUT_MS"]
    assert told["response_timeout_ms"] == settings["RESPONSE_TIMEOUT_MS"]
    assert told["pool_timeout_ms"] == settings["POOL_TIMEOUT_MS"]
    assert "null" not in told["driver"] + told["pool"]
    assert (told["isolation"], told["prepare_threshold"]) == ("repeatable read", 1)
    assert threads_wait or told["internals"]["colocate"] is False
    assert {about["thread_kinds"][endpoint] for endpoint in ASKED} == {approach.thread_kind}


async def test_requests_wait_for_the_pool_and_for_nothing_else(
    approach: Approach, database: Database, settings: Settings
) -> None:
    pool = settings["POOL"]
    async with approach.crowd(2 * pool) as crowd:
        await crowd.ask(get("/orders/slow?millis=0"))
        asking = asyncio.create_task(crowd.ask(get("/orders/slow?millis=1000")))
        await asyncio.sleep(0.5)
        scrape = await approach.scrape()
        answers, seconds = await asking
    assert {answer.status for answer in answers} == {200}
    assert 2 <= seconds < 3
    assert database.most_open <= pool
    assert scrape.value("lab_database_active") == scrape.value("lab_database_connections") == pool
    assert scrape.value("lab_database_pending") == pool
    assert (await approach.scrape()).value("lab_database_wait_seconds_max") >= 0.9


async def test_who_gets_no_connection_in_time_gives_up(
    approach: Approach, database: Database, settings: Settings, golden: Golden
) -> None:
    assert database
    pool = settings["POOL"]
    async with approach.crowd(pool + 1) as crowd:
        answers, _ = await crowd.ask(get("/orders/slow?millis=3000"))
    assert sorted(answer.status for answer in answers) == [200] * pool + [503]
    (given_up,) = (answer for answer in answers if answer.status == 503)
    assert_problem(given_up, 503)
    golden("database-503.json", given_up.body)


async def test_a_silent_database_is_waited_for_no_longer_than_asked(
    approach: Approach, database: Database, settings: Settings, golden: Golden
) -> None:
    longest_s = settings["RESPONSE_TIMEOUT_MS"] / 1000
    with database.silent():
        started = time.monotonic()
        answer = await approach.ask(get("/orders/42"))
        assert longest_s <= time.monotonic() - started < longest_s + 2
    assert_problem(answer, 504)
    golden("database-504.json", answer.body)
    await assert_answers_again(approach, golden)


async def test_a_connection_that_breaks_is_told_and_replaced(
    approach: Approach, database: Database, golden: Golden
) -> None:
    asking = asyncio.create_task(approach.ask(get("/orders/slow?millis=3000")))
    await asyncio.sleep(1)
    database.cut()
    answer = await asking
    assert_problem(answer, 502)
    golden("database-502.json", answer.body)
    await assert_answers_again(approach, golden)


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=[pytest.mark.night, pytest.mark.timeout(400)])])
async def test_orders_that_were_acknowledged_are_there_after_connections_were_killed(
    approach: Approach, database: Database, golden: Golden, kills: int
) -> None:
    answers: list[Answer] = []
    async with approach.crowd(10) as crowd:
        for kill in range(kills):
            asking = asyncio.create_task(crowd.ask_often(ASKED["POST /orders"], 10))
            await asyncio.sleep(0.02 + 0.01 * (kill % 5))
            database.cut()
            answers += await asking
    assert {answer.status for answer in answers} <= {201, 409, 502, 503}
    ids = [json.loads(answer.body)["id"] for answer in answers if answer.status == 201]
    assert len(ids) == len(set(ids)) > 0
    await assert_answers_again(approach, golden)
    for number in ids:
        assert json.loads((await approach.ask(get(f"/orders/{number}"))).body)["lines"]


async def test_without_a_database_there_is_no_connection(
    approach: Approach, database: Database, golden: Golden
) -> None:
    database.refuse()
    try:
        answer = await eventually(lambda: approach.ask(get("/orders/42")), lambda answer: answer.status == 503)
        assert_problem(answer, 503)
        golden("database-503.json", answer.body)
        assert (await approach.ask(get("/capabilities"))).status == 200
    finally:
        await database.listen()
    await assert_answers_again(approach, golden)


async def assert_answers_again(approach: Approach, golden: Golden) -> None:
    """Each of many requests gets its own answer, once the broken connections are gone."""

    async def ask() -> Answer:
        return await approach.ask(get("/orders/42"))

    await eventually(ask, lambda answer: answer.status == 200)
    async with approach.crowd(20) as crowd:
        for _ in range(3):
            answers, _ = await crowd.ask(get("/orders/42"))
    assert {answer.status for answer in answers} == {200}
    for answer in answers:
        golden("orders-42.json", answer.body)
