"""`python -m loomlab` is `loomlab`."""

from loomlab.cli import main

main()
