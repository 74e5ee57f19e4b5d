"""From raw files to figures and a verdict."""
