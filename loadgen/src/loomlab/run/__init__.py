"""The measurement: warm-up, tool, samples, raw files."""
