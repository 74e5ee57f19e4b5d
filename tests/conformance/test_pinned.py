"""/pinned holds a monitor that compilers must not remove."""

from approach import WITHOUT_C2, Approach, eventually
from waiting import assert_delays_take
from wire import get

CONNECTIONS = 50
WARM = 400
"""Requests per connection: 20,000 in all are enough for the compiler that could remove the monitor, C2."""
RECORDED_MS = 25
"""The JDK records a pinned thread from 20 ms on."""
ASKED = 20
AT_ONCE, DELAY_SECONDS = 20, 0.1


async def pins(approach: Approach) -> float:
    return (await approach.scrape()).value("jvm_threads_virtual_pinned_seconds_count")


async def test_a_compiled_request_still_pins_where_a_monitor_pins(approach: Approach) -> None:
    expected = ASKED if approach.a_monitor_pins else 0
    jvm = (await approach.about())["jvm"]
    if approach.a_monitor_pins and WITHOUT_C2 not in jvm["vm_arguments"]:
        async with approach.crowd(CONNECTIONS) as crowd:
            await crowd.ask_often(get("/pinned?delayInMillis=0"), WARM)
    before = await pins(approach)

    async with await approach.connect() as connection:
        for _ in range(ASKED):
            assert (await connection.ask(get(f"/pinned?delayInMillis={RECORDED_MS}"))).status == 200

    after = await eventually(lambda: pins(approach), lambda seen: seen - before >= expected)
    assert expected <= after - before <= expected + jvm["carriers"]


async def test_few_wait_at_once_where_a_monitor_pins(approach: Approach) -> None:
    """As many as there are carriers, and at times one more: the scheduler makes up for a carrier that a selector or
    file I/O blocks (JEP 444), and jetty-virtual's selectors run on virtual threads."""
    carriers = (await approach.about())["jvm"]["carriers"]
    async with approach.crowd(AT_ONCE) as crowd:
        answers, seconds = await crowd.ask(get(f"/pinned?delayInMillis={round(1000 * DELAY_SECONDS)}"))

    assert {answer.status for answer in answers} == {200}
    if approach.a_monitor_pins:
        assert seconds >= AT_ONCE / (carriers + 1) * DELAY_SECONDS
    else:
        await assert_delays_take(approach, lambda delay_ms: get(f"/pinned?delayInMillis={delay_ms}"))
