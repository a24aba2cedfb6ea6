"""Experiments that demonstrate claims: each is a file in `impl/experiments/`, run in its own process."""
