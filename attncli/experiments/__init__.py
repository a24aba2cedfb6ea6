"""Claims that can be run: each a file in `impl/experiments/`, run in a process of its own; its table and plots."""
