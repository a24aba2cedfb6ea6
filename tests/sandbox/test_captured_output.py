"""Capture a submission's output: it cannot control a terminal, and its length is limited."""

from __future__ import annotations

import signal
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from attncli.sandbox.wire import CHANNEL_LOST, OUT_OF_MEMORY
from attncli.sandbox.worker_process import KEPT_BYTES, LIMIT_BYTES, Printed, classify, clean, split_fatal_error


def test_control_sequences_are_taken_out() -> None:
    for raw, shown in (
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;a new title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("\x1b(Bx\x1bcx", "xx"),
        ("50%\r100%\r\n", "50%\n100%\n"),
        ("bell\x07 null\x00 delete\x7f", "bell null delete"),
        ("left\u202eright\u2066", "leftright"),
        ("注意力 👍", "注意力 👍"),
    ):
        assert clean(raw) == shown


@given(st.text(alphabet=st.characters() | st.sampled_from("\x1b\x9b[]\x07\\;m0")))
def test_no_control_character_is_left(raw: str) -> None:
    assert all(character in "\n\t" or unicodedata.category(character) != "Cc" for character in clean(raw))


@given(st.lists(st.binary(max_size=40_000), max_size=8))
def test_what_is_kept_is_bounded_and_begins_with_the_beginning(pieces: list[bytes]) -> None:
    printed = Printed()
    for piece in pieces:
        printed.add(piece)
    whole = b"".join(pieces)
    assert printed.total == len(whole)
    assert len(printed._head) + len(printed._tail) == min(len(whole), KEPT_BYTES)
    assert whole.startswith(bytes(printed._head)) and whole.endswith(bytes(printed._tail))


def test_a_gap_says_how_much_is_left_out_and_broken_utf8_is_replaced() -> None:
    printed = Printed()
    printed.add(b"a\xff" + b"a" * KEPT_BYTES + b"b" * 1000)
    assert "… 1002 bytes left out …" in printed.text()
    assert printed.text().startswith("a\ufffda") and printed.text().endswith("b" * 1000)
    printed = Printed()
    printed.add(bytes(LIMIT_BYTES))
    assert not printed.too_much
    printed.add(b"x")
    assert printed.too_much


def test_the_interpreters_report_of_a_crash_becomes_a_place() -> None:
    report = 'Fatal Python error: Segmentation fault\n\n  File "ctypes.py", line 9 in at\n  File "s.py", line 3 in f\n'
    assert split_fatal_error("before\n" + report, "s.py") == ("before\n", "in line 3 (f)")
    assert split_fatal_error("before\n" + report, "other.py") == ("before\n", "")
    assert split_fatal_error("before\n", "s.py") == ("before\n", "")


def test_endings() -> None:
    for status, printed, reason, words in (
        ({"exit": 0}, "", "exited", "exit status 0 (os._exit or sys.exit)"),
        ({"exit": CHANNEL_LOST}, "", "protocol", "closed its channel"),
        ({"exit": OUT_OF_MEMORY}, "", "memory", "needed more than 512 MiB"),
        ({"signal": signal.SIGSEGV}, "", "crashed", "killed by SIGSEGV during a call"),
        ({"signal": signal.SIGKILL}, "", "crashed", "killed by SIGKILL"),
        ({"signal": signal.SIGXCPU}, "", "timeout", "processor time"),
        ({"signal": signal.SIGSYS}, "", "refused", "system call of another architecture"),
        ({"signal": signal.SIGABRT}, "", "crashed", "killed by SIGABRT"),
        ({"signal": signal.SIGABRT}, "terminate called ... 'std::bad_alloc'", "memory", "needed more than 512 MiB"),
        ({"signal": 40}, "", "crashed", "signal 40"),
    ):
        stop = classify(status, "called", 512, printed)
        assert (stop.reason, words in stop.message.en) == (reason, True), stop.message
