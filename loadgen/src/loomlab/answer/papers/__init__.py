"""The published experiments: their figures and claims as data."""
