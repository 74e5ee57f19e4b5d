"""users (`lab-users`, loadgen/users in Rust): connections that are always busy, and users who come, think and go."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from loomlab.basics.errors import UsageError
from loomlab.records.load import Closed, Load, Users, UserStage
from loomlab.tools.program import Program


class UsersProgram(Program):
    """Each user, or each connection that is always busy, opens its connection with its first request. What is in flight
    at the end is waited for; nothing is sent twice."""

    name = "users"
    program = "lab-users"
    done_query = None

    def check(self, load: Load) -> None:
        match load.shape:
            case Closed(requests) if requests < load.connections:
                raise UsageError(
                    f"users wants at least as many requests as connections, got {requests} for {load.connections}: "
                    "raise REQUESTS."
                )
            case Users(stages):
                users = max(stage.users for stage in stages)
                if not 1 <= users <= load.connections:
                    raise UsageError(
                        f"users needs at least one user, each with a connection, got {users} users for "
                        f"{load.connections} connections: raise CONCURRENCY or correct the stages."
                    )
                if users < len(load.targets):
                    raise UsageError(
                        f"users deals {len(load.targets)} kinds of requests out to users, got {users}: raise "
                        "CONCURRENCY or SCALE."
                    )
            case Closed():
                pass
            case _:
                raise UsageError("users keeps no rate, but one was asked for: use vegeta.")

    def told(self, load: Load) -> Mapping[str, Any]:
        shape = load.shape
        if isinstance(shape, Closed):
            stages: tuple[UserStage, ...] = (
                UserStage(load.connections, 0),
                UserStage(load.connections, shape.duration_s),
            )
            think_s, most = (0.0, 0.0), shape.requests
        else:
            assert isinstance(shape, Users)
            stages, think_s, most = shape.stages, shape.think_s, self.most_requests
        return {
            "address": urlsplit(load.origin).netloc,
            "stages": [{"users": stage.users, "seconds": stage.duration_s} for stage in stages],
            "think_seconds": think_s,
            "most_requests": most,
            "dealt_to_requests": isinstance(shape, Closed),
        }
