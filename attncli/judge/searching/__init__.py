"""Which cases are looked at, and the smallest and plainest one that still fails."""
