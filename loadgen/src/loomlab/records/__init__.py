"""What runs, loads and results are made of, and the files that hold them."""
