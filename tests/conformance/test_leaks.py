"""Bad requests leave no thread, connection, file or unfinished request behind."""

from collections.abc import Awaitable, Callable, Collection, Mapping

import pytest

from approach import Approach, Holdings, Settings, eventually
from backend import Backend, Reply
from cases import GOOD_REQUESTS, ONE_REFUSAL_OF_EACH_KIND, PROMPT_TROUBLES, SILENCE, UNUSABLE_REPLIES
from waiting import assert_side_by_side
from wire import get

pytestmark = pytest.mark.small

CONNECTIONS = 20
POOL = 3  # as small.env has it: of more than that, some would wait for a connection in vain
ROUNDS = 5
# Compilers, pools and, on JDK 21, carriers in place of blocked ones come and go; a leak shows as many as were asked.
SLACK = 20

type Provocation = Callable[[Approach, Backend, int], Awaitable[None]]


def failing(
    status: int, raw: bytes, replies: Mapping[str, Reply] | None = None, connections: int = CONNECTIONS
) -> Provocation:
    """That request, while the backend gives these replies."""

    async def provoke(approach: Approach, backend: Backend, rounds: int) -> None:
        async with approach.crowd(connections) as crowd:
            with backend.replying(replies or {}):
                answers = await crowd.ask_often(raw, rounds)
        assert {answer.status for answer in answers} == {status}

    return provoke


async def down(approach: Approach, backend: Backend, rounds: int) -> None:
    await backend.refuse()
    try:
        await failing(502, get("/capabilities"))(approach, backend, rounds)
    finally:
        await backend.listen()


async def leaving(approach: Approach, _backend: Backend, rounds: int) -> None:
    """Clients that leave while they wait."""
    for _ in range(rounds):
        async with approach.crowd(CONNECTIONS) as crowd:
            for each in crowd.connections:
                each.send(get("/epoch-millis?delayInMillis=50"))


PROVOCATIONS: dict[str, Provocation] = {
    **{each.kind: failing(each.status, each.raw) for each in ONE_REFUSAL_OF_EACH_KIND},
    **{
        trouble.name: failing(trouble.status, get("/capabilities"), {"/authorization/": trouble.reply})
        for trouble in PROMPT_TROUBLES
    },
    **{
        name: failing(502, GOOD_REQUESTS[endpoint], {call: reply})
        for name, (endpoint, call, reply) in UNUSABLE_REPLIES.items()
    },
    SILENCE.name: failing(SILENCE.status, get("/capabilities"), {"/authorization/": SILENCE.reply}, POOL),
    "down": down,
    "leaving": leaving,
}
BY_DAY = [
    "delay-word",
    "path-unknown",
    "method-wrong",
    "body-unusable",
    "body-too-long",
    "type-wrong",
    "resets",
    "breaks-off",
    "answers-500",
    "token-with-spaces",
    "down",
    "leaving",
]


async def growth(
    approach: Approach, backend: Backend, settings: Settings, names: Collection[str], rounds: int
) -> str | None:
    """What the approach holds after these provocations, where that is more than after the first round of them."""
    pool = settings["POOL"]
    garbage = approach.keeps_files_of_garbage and "sends-garbage" in names

    async def look() -> Holdings:
        return await approach.holdings(backend.open_connections)

    def rests(seen: Holdings) -> bool:
        return seen.inflight_requests == seen.open_connections == 0

    for name in names:
        await PROVOCATIONS[name](approach, backend, 1)
    before = await eventually(look, rests)

    def is_as_before(seen: Holdings) -> bool:
        return (
            seen.inflight_requests <= before.inflight_requests
            and seen.open_connections <= before.open_connections
            and seen.backend_connections <= pool
            and seen.threads <= before.threads + SLACK
            and seen.open_files <= before.open_files + SLACK + (CONNECTIONS * rounds if garbage else 0)
        )

    for name in names:
        await PROVOCATIONS[name](approach, backend, rounds)
    seen = await eventually(look, is_as_before)
    await assert_side_by_side(approach, backend, pool)
    return None if is_as_before(seen) else f"After {', '.join(names)} {seen}; before {before}."


@pytest.mark.timeout(600)  # where it has to find out which kind it is
async def test_100_bad_requests_of_a_kind_leave_nothing_behind(
    approach: Approach, backend: Backend, settings: Settings
) -> None:
    grown = await growth(approach, backend, settings, BY_DAY, ROUNDS)
    assert not grown, [
        grown,
        *[each for name in BY_DAY if (each := await growth(approach, backend, settings, [name], ROUNDS))],
    ]


@pytest.mark.night
@pytest.mark.timeout(300)  # silences take their time
@pytest.mark.parametrize("name", PROVOCATIONS)
async def test_500_leave_nothing_behind(approach: Approach, backend: Backend, settings: Settings, name: str) -> None:
    grown = await growth(approach, backend, settings, [name], 5 * ROUNDS)
    assert not grown, grown
