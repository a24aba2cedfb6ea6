"""Experiments that prove claims: each is a file in `impl/experiments/`, run in its own process."""
