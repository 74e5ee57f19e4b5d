"""Watches the watchers: what Prometheus and Grafana tell, held against what the kernel counts."""
