"""The trusted side of grading: generate, run the reference, compare, shrink, diagnose, report.

`client` is what the app and the commands use; it loads no torch. Everything else lives in the judge's own process.
"""
