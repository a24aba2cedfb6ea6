"""`attn ladder`: run an engine made of the learner's own pieces, and find the pieces that break it."""
