"""Which try of a run counts: chosen by what happened outside of it, never by its outcome."""

from collections.abc import Sequence

MOST_TRIES = 3


def counted(spoilt: Sequence[bool]) -> int | None:
    """The place of the try that counts, of tries in their order: the first that was not spoilt from outside, whatever
    it cost; None: each was."""
    return next((place for place, one in enumerate(spoilt) if not one), None)


def wants_another(spoilt: Sequence[bool]) -> bool:
    """Whether a run is made again after these tries."""
    return counted(spoilt) is None and len(spoilt) < MOST_TRIES
