"""The lab's Grafana dashboards as code: `python -m loomlab_dashboards write DIR` writes what Grafana is given."""
