"""Scenarios: loads with a name, from their files to the loads that are run."""
