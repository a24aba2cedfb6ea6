"""The learner's data: the append-only history (JSON Lines), and an SQLite cache derived from it and the banks."""
