"""One SQLite file a learner: an append-only log, and everything that is derived from it. No other room speaks SQL."""
