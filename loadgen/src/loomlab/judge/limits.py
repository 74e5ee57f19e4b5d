"""The thresholds of the verdict (docs/methodology.md, "The verdict")."""

ERROR_LIMIT = 0.01
BUSY_CPU = 0.95
BUSY_SECONDS_LIMIT = 0.10
LATE_MEAN_LIMIT, LATE_P99_LIMIT = 0.05, 0.10
CLOCK_LIMIT_S = 0.5
GROWTH_LIMIT = 0.10
"""Of latency within a step: what grows by more, beyond noise, is a queue."""
FOREIGN_LIMIT, MUCH_FOREIGN_LIMIT = 0.05, 0.20
RATE_LIMIT = 0.02
LAG_LIMIT, LONGEST_LAG_MS, RESOLVED_LAG_MS = 0.05, 1000, 1
"""Of starts behind their schedule, at p99; below a millisecond nothing is told of what a timer does."""
LITTLE_LIMIT = 0.05
METRICS_MISSING_LIMIT = 0.10
SILENT_END_S, SILENT_END_P99S = 2, 3
GC_LIMIT = 0.20
THROTTLED_LIMIT = 0.05
STALL_P50S = 10
SILENT_WAVES, OMITTED_LIMIT = 1.5, 0.01
"""Connections in step are silent for up to a wave; of what should have come beyond it, so large a share moves p99."""
REOPENED_LIMIT = 0.01
OWN_CONNECTIONS = 3
"""To Prometheus, for progress and for k6's live figures."""
BACKEND_REQUESTS_LIMIT = 0.02
