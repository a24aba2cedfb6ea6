"""The learner's code as the judge meets it: what is put to a worker, what comes back, and what it shows."""
