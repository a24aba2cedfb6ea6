"""Find copied and disguised code; ignore independent work and the starter."""

from __future__ import annotations

import re
import resource
from itertools import combinations
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from attncli.cohort.report import LEAST_CLASS, similar_files
from attncli.practice.start import starter

IMPL = Path(__file__).parents[2] / "impl"
SDPA = (IMPL / "attention" / "sdpa" / "reference.py").read_text(encoding="utf-8")


def disguised(source: str) -> bytes:
    """Return the same program with other names, comments, docstrings and layout."""
    text = re.sub(r"\b(scores|weights|mask|scale)\b", r"my_\1", source)
    text = re.sub(r'"""', '"""Mine. ', text, count=1).replace("\n\n", "\n\n\n# my own idea\n\n")
    return text.encode()


def test_a_copy_is_found_whatever_was_renamed() -> None:
    other = (IMPL / "norms" / "rms-norm" / "reference.py").read_bytes()
    found = similar_files("sdpa", {"ada": SDPA.encode(), "bob": disguised(SDPA), "eve": other}, [])
    assert [(group.learners, group.share) for group in found] == [(("ada", "bob"), 1.0)]


def test_the_starter_alone_makes_nobody_alike() -> None:
    given_out = starter(IMPL / "attention" / "sdpa" / "reference.py", ["sdpa"], "statement")
    assert similar_files("sdpa", {"ada": given_out.encode(), "bob": given_out.encode()}, [given_out]) == []


def test_what_most_of_a_class_writes_is_no_sign() -> None:
    own = {
        f"p{n}": f"{SDPA}\n\nx{n} = torch.relu({n}) + torch.exp({n * 7}) @ torch.ones({n}, {n}, {n})".encode()
        for n in range(LEAST_CLASS)
    }
    assert len(similar_files("sdpa", dict(list(own.items())[:2]), [])) == 1
    assert similar_files("sdpa", own, []) == []


@pytest.mark.parametrize(
    "track", ["norms", *(pytest.param(name, marks=pytest.mark.full) for name in ("attention", "cache", "efficient"))]
)
def test_right_solutions_that_people_wrote_apart_are_not_alike(track: str) -> None:
    for challenge in sorted((IMPL / track).iterdir()):
        entry = yaml.safe_load((challenge / "challenge.yaml").read_text(encoding="utf-8"))["entry"]
        given_out = starter(challenge / "reference.py", entry, "statement")
        files = [challenge / "reference.py", *sorted(challenge.glob("right/*.py"))]
        for one, other in combinations(files, 2):
            assert similar_files("x", {"a": one.read_bytes(), "b": other.read_bytes()}, [given_out]) == [], (one, other)


@given(st.lists(st.binary(max_size=300), max_size=4))
def test_whatever_is_handed_in_can_be_compared(sources) -> None:
    for group in similar_files("x", {f"p{n}": source for n, source in enumerate(sources)}, []):
        assert len(group.learners) > 1 and 0.6 <= group.share <= 1


def test_what_is_no_python_is_like_nothing() -> None:
    for source in (b"\0" * 99, b"(" * 9999, b"'''", b"\xff\xfe", b"\tx\n  y\n\tz", b"x = 0777"):
        assert all(len(group.learners) == 2 for group in similar_files("x", {"a": source, "b": source}, [])), source


@pytest.mark.parametrize(
    "line", [b"'" + b"\\'" * 2**19, b"(" * 2**20, b'f"' + b"{a}" * 2**18, b'"' * 2**20, b"\\\n" * 2**19, b"9" * 2**20]
)
def test_whatever_is_handed_in_is_compared_in_little_time(line: bytes) -> None:
    started = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    similar_files("double", {"a": line, "b": b"x = 1\n" + line}, [])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - started < 10
