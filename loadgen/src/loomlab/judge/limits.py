"""The thresholds of the verdict (docs/methodology.md, "The verdict")."""

ERROR_LIMIT = 0.01
BUSY_CPU = 0.95
BUSY_SECONDS_LIMIT = 0.10
LATE_MEAN_LIMIT, LATE_P99_LIMIT, RESOLVED_LATE_MS = 0.05, 0.10, 0.05
"""The backend's first bucket ends there."""
CLOCK_LIMIT_S = 0.5
GROWTH_LIMIT, MUCH_GROWTH_LIMIT = 0.10, 0.25
"""Of latency under one load, from half to half, beyond noise. A rate that is one hundredth over what can be carried
makes 0.9 s grow by a quarter within a minute."""
CPU_GROWTH_LIMIT = 0.25
"""Of CPU per request, which the host moves more than latency: under a light load by a quarter, hence the smaller limit
for the lower end of the 95 % interval."""
LATENCY_PEAK_LIMIT, CPU_PEAK_LIMIT = 0.25, 1.0
"""Of one of eight parts above their median; in 36 healthy runs it was 17 % and 49 % at most."""
IDLE_CPU_LIMIT = 0.20
"""Of the approach's CPUs: where more is idle, requests did not queue for want of CPU."""
FALL_LIMIT = 0.10
"""Between the halves of the measured part: the figure of the whole is then some 5 % above that of its second half."""
COMPILED_LIMIT = 0.075
"""Of CPU per request: by how much the compilers' part of it fell."""
FOREIGN_LIMIT, MUCH_FOREIGN_LIMIT = 0.05, 0.20
STOLEN_LIMIT = 0.05
"""Of the time in which the approach needed its CPUs: by so much was CPU per request higher in runs with steal."""
EXCESS_CPU_LIMIT = 0.05
"""Above the CPUs that a container has: the ends of a window lie between samples."""
RATE_LIMIT = 0.02
LAG_LIMIT, LONGEST_LAG_MS, RESOLVED_LAG_MS = 0.05, 1000, 2
"""Of starts behind their schedule, at p99; below two milliseconds it is what timers do (vegeta alone: 1.4 at p99)."""
LITTLE_LIMIT, IDLE_LIMIT = 0.05, 0.01
"""Of connections: off by more, and a count is wrong; more of them without a request, and some are dead."""
IMPOSSIBLE_LIMIT = 0.005
"""By which throughput may exceed what connections that only wait can carry: what a count of whole waves leaves open."""
METRICS_MISSING_LIMIT = 0.10
SILENT_END_S, SILENT_END_P99S = 2, 3
GC_LIMIT = 0.20
THROTTLED_LIMIT = 0.05
SILENT_WAVES, SLOW_P50S, OMITTED_LIMIT = 1.5, 3, 0.01
"""Connections in step are silent for up to a wave, and one answer may take some p50; of what should have come beyond
that, so large a share moves p99."""
REOPENED_LIMIT = 0.01
OWN_CONNECTIONS = 3
"""To Prometheus, for progress."""
BACKEND_REQUESTS_LIMIT = 0.02
