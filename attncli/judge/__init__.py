"""Grading, in a process of its own that imports torch; only `client`, which the app uses, does not.

A case: `challenge` (the trusted files), `case`, `drawing`, `make`, `motifs`,
`random_results`. An answer: `reference`, `compare`, `submission`, `protocol`, and `guard`, which bounds what reading
an answer may cost. A grading: `questions`, `exam`, `growth`, `grade`, `verify`, `server`.
After a failure: `shrink`, `counterexample`, `diagnose`, `patterns`, `repairs`, `messages`. Cases that a learner typed:
`try_case`.
"""
