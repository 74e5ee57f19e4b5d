"""From judged runs to tables."""
