"""/pinned holds a monitor that no compiler may take away."""

from approach import Approach, eventually
from wire import get

VIRTUAL_THREADS_KEEP_THEIR_CARRIER_BEFORE = 24
CONNECTIONS = 50
WARM = 400
"""Requests per connection: 20,000 in all are enough for the second compiler."""
RECORDED_MS = 25
"""The JDK records a pinned thread from 20 ms on."""
ASKED = 20


async def pins(approach: Approach) -> float:
    return (await approach.scrape()).value("jvm_threads_virtual_pinned_seconds_count")


async def test_a_compiled_request_still_pins_where_a_monitor_pins(approach: Approach) -> None:
    java = int((await approach.about())["jvm"]["version"].partition(".")[0])
    expected = ASKED if approach.thread_kind == "virtual" and java < VIRTUAL_THREADS_KEEP_THEIR_CARRIER_BEFORE else 0
    async with approach.crowd(CONNECTIONS) as crowd:
        await crowd.ask_often(get("/pinned?delayInMillis=0"), WARM)
    before = await pins(approach)

    async with await approach.connect() as connection:
        for _ in range(ASKED):
            assert (await connection.ask(get(f"/pinned?delayInMillis={RECORDED_MS}"))).status == 200

    after = await eventually(lambda: pins(approach), lambda seen: seen - before >= expected)
    assert after - before == expected
