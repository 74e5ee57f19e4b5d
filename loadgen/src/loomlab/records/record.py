"""What every record is."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
"""Of a folder, a file or a service: one word to a shell, and no way out of its folder."""
Name = Annotated[str, Field(pattern=NAME)]
Margin = Annotated[float, Field(gt=0, le=0.5)]  # of equivalence, a share


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True, allow_inf_nan=False)
