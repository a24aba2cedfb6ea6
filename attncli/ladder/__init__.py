"""`attn ladder`: an engine out of the learner's own pieces, and which of them breaks it."""
