"""From what is asked for to the loads that are run."""
