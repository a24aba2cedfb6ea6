"""Two more doors to the same practice: a browser, and the learner's own assistant."""
