"""Limits of the verdict that more than one module knows; the others stand beside their rules."""

ERROR_LIMIT = 0.01
BUSY_CPU = 0.95
BUSY_SECONDS_LIMIT = 0.10
GROWTH_LIMIT = 0.10  # of latency under one load, from half to half, beyond noise
RATE_LIMIT = 0.02
LAG_LIMIT, LONGEST_LAG_MS, RESOLVED_LAG_MS = 0.05, 1000, 2
"""Of starts behind their schedule, at p99; below two milliseconds it is what timers do (vegeta alone: 1.4 at p99)."""
METRICS_MISSING_LIMIT = 0.10
THROTTLED_LIMIT = 0.05
OWN_CONNECTIONS = 3  # of the lab's generator beside its tool's: to Prometheus, for progress
SEE_LOG = "see the approach's log in raw/"
SLOW_P50S = 3  # one answer may take so many p50
