"""Measure the oracle's error again, for every challenge and dtype: the tolerance never narrows."""

from attncli.judge.challenge import Folder
from attncli.judge.exam import Exam
from attncli.judge.reference import Expectation
from attncli.sandbox.compiler import postpone_compiler

from .conftest import IMPL, sampled

FOLDERS = [path.parent for path in IMPL.glob("*/*/inputs.py")]

postpone_compiler()


@sampled(FOLDERS, 3)
def test_more_measurements_never_narrow_what_is_allowed(path):
    exam = Exam(Folder({"id": path.name}, path), 0)
    checks = ("matches-reference", "stable", "low-precision")
    for stratum in (stratum for check in checks for stratum in exam.strata(check, 2)):
        due = Expectation(exam.folder.reference, stratum.questions[-1].case)
        assert due.closer.keys() == due.slack.keys()
        assert all(bool((due.closer[place] >= due.slack[place]).all()) for place in due.slack)
