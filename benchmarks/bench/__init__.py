"""What the benchmark scripts share: the machine, the test files, the sides that are compared, repeats and tables."""
