"""What reviews have shown so far: how far the learner has come, and what was recalled."""
