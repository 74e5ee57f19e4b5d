"""The load of the live test, and the machine it runs on: what plausible figures follow from."""

from dataclasses import dataclass

from watching.experiment import Experiment

MIB = 1 << 20
BACKEND_CALLS = 3


@dataclass(frozen=True)
class Load:
    """Requests of /capabilities at a rate: each waits for three answers of the backend, one after another."""

    rate_rps: float
    delay_seconds: float
    error_share: float
    connections: int
    cpus: int
    backend_late_seconds: float = 0

    @classmethod
    def of(cls, experiment: Experiment) -> "Load":
        environment, run = experiment.environment, experiment.runs[0]
        return cls(
            rate_rps=run.rate_rps,
            delay_seconds=float(environment["backend"]["delay"]) / 1000,
            error_share=float(environment["backend"]["error_share"]),
            connections=run.connections,
            cpus=int(environment["cpus"]),
            backend_late_seconds=max(run.backend_late_seconds for run in experiment.runs),
        )

    @property
    def answer_seconds(self) -> float:
        """Of a request that nothing slows down."""
        return BACKEND_CALLS * self.delay_seconds

    @property
    def in_flight(self) -> float:
        """By Little's law."""
        return self.rate_rps * self.answer_seconds

    @property
    def failing_share(self) -> float:
        """Of the requests: one bad answer of the backend fails it."""
        return BACKEND_CALLS * self.error_share
