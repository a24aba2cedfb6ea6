"""The trusted side of grading, in rooms.

cases (what is drawn and called), truth (what is due, and how far it may be missed), answers (the learner's code as the
judge meets it), searching (the smallest case that fails), asking (questions and the exam), naming (which mistake it
is), telling (what people read of it), grading (from start to verdict). `check_table` says what each check is,
`answer_guard` is where answers are looked at.

`client` is what the app and the commands use; it loads no torch. Everything else lives in the judge's own process,
which is `server`.
"""
