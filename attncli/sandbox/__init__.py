"""The untrusted side of grading: a worker runs the learner's file behind namespaces, Landlock, seccomp and rlimits.

The zygote imports torch once and forks a worker for each file. The judge asks for workers through `zygote_client` and
speaks to them through `worker_process`, in frames (`wire`) of JSON trees and raw tensor bytes (`values`).
`launch` loads this folder as a top-level package `sandbox`, with attncli not importable: imports stay relative, and
only the judge's end (`zygote_client`, `worker_process`) imports `attncli.errors`.
"""
