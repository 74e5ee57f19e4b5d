"""Published experiments: what is run for them, and whether their claims are reproduced."""
