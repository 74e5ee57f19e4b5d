"""A small paper and its original, for tests."""

PAPER = """\
title: A paper
author: A. Author
url: https://example.org/paper
year: 2024
year_told_by: its date
setup:
  JDK: JDK 21
levels: {unit: connections, values: [100, 200]}
tables:
  - name: results
    place: [Results, Tail]
    approach: tomcat-virtual
    levels: [100, 200]
    rows:
      - {label: p99, unit: ms, values: [310, 320.5], measured: latency_ms.p99}
claims:
  - id: tail
    says: The tail stays below 400 ms.
    place: [Results]
    load: {scenarios: [soak], levels: [100, 200]}
    decided_by: {kind: value, figures: [latency_ms.p99], approaches: [tomcat-virtual], below: 400}
"""
ORIGINAL = """\
# A paper
It ran on JDK 21.
## Results
| p99 | 1 | 2 |
### Tail
| connections | 100 | 200 |
| p99 | 310 | 320.5 |
"""
