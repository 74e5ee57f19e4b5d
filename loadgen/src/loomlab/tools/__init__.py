"""The load generators: one module each, one interface."""
