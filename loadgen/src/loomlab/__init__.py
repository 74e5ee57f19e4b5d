"""Drives a load generator against one approach, records everything raw, and judges the run from those files."""
