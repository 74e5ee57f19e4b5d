"""What every record is."""

import math
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Of a folder, a file or a service: one word to a shell, and no way out of its folder."""
Name = Annotated[str, Field(pattern=NAME)]
EpochSeconds = Annotated[float, Field(ge=0, le=1e11)]
"""Up to the year 5138."""


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, allow_inf_nan=False)


class FiniteRecord(Record):
    """Takes NaN and infinity, which only a hand writes, for unknown: they are read as None, at any depth."""

    @model_validator(mode="before")
    @classmethod
    def _blank(cls, told: Any) -> Any:
        return _finite(told)


def _finite(told: Any) -> Any:
    match told:
        case float():
            return told if math.isfinite(told) else None
        case dict():
            return {name: _finite(value) for name, value in told.items()}
        case list():
            return [_finite(value) for value in told]
        case _:
            return told


def _whole(told: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(told)
    except ValidationError as error:
        lacking = error.errors()
        if any(one["input"] is not None for one in lacking):
            raise
    if not isinstance(told, list):
        return validate(None)
    lost = {one["loc"][0] for one in lacking}
    return validate([one for place, one in enumerate(told) if place not in lost])


WHOLE_OR_UNKNOWN = WrapValidator(_whole)
"""Of a field with parts that cannot be None: where one is, a list is without that entry, and anything else is None."""
