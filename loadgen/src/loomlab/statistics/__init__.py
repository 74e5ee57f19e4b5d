"""From the figures of runs to what may be said of two approaches."""
