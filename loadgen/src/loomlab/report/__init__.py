"""From an experiment's folder to a page that says what was found, and how sure it is."""
