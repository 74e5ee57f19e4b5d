"""What was measured, for browsers and for Prometheus."""
