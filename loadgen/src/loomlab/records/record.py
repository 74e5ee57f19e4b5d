"""What every record that is written to a file has in common."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)
