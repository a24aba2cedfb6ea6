"""Grading, in a separate process that imports torch; only `client`, used by the app, does not import it.

A case: `challenge` (the trusted files), `case`, `drawing`, `make`, `motifs`, `random_results`. An answer: `reference`,
`compare`, `submission`, `protocol`, and `guard`, which limits the cost of reading an answer. A grading: `questions`,
`exam`, `growth`, `grade`, `verify`, `server`. After a failure: `shrink`, `counterexample`, `diagnose`, `patterns`,
`repairs`, `messages`. Cases that a learner typed: `try_case`.
"""
