"""The verdict's rules: one a function, each a sentence with its figure and threshold, or None."""
