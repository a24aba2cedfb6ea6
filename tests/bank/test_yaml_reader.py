"""Read YAML with places, and refuse what is malformed, hostile or cannot be shown."""

import math
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attncli.bank import yaml_reader
from attncli.bank.problems import Finding
from attncli.bank.yaml_reader import UnreadableYaml, decode, parse, read_text, resolve
from attncli.i18n import quoted


@pytest.fixture(params=[yaml_reader.LOADER, yaml.SafeLoader])
def each_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read with PyYAML's parser in C, and with the Python one."""
    monkeypatch.setattr(yaml_reader, "LOADER", request.param)


def messages(text: str) -> list[str]:
    return [str(problem) for problem in parse("f", text).problems]


@pytest.mark.usefixtures("each_loader")
def test_values_are_plain_and_keys_are_text() -> None:
    parsed = parse("f", "a: [1, '1', {b: ~}]\nc: |\n  x\n  y\n")
    assert parsed.value == {"a": [1, "1", {"b": None}], "c": "x\ny\n"}
    assert parsed.whole and not parsed.problems
    assert parse("f", "").value is None
    assert parse("f", "<<: 1").value == {"<<": 1}, "merge keys are ordinary keys"
    assert parse("f", "8: 8\ntrue: 1").value == {"8": 8, "true": 1}


WORDS = {"": None, "~": None, "null": None, "true": True, "False": False, "24": 24, "-3": -3, "+5": 5, "0": 0}
WORDS |= {"0.5": 0.5, "1e-5": 1e-5, "2E3": 2000.0, "-1.25": -1.25}
TEXTS = "yes no on Null TRUE 2017-06 2017-06-12 1_000 0x10 0o7 007 1:30 .inf .nan 1. .5 1e999 1,000 --1 + 1e << = ٣"


def test_few_words_are_special_and_everything_else_is_text() -> None:
    for word, value in WORDS.items():
        assert resolve(word) == value and type(resolve(word)) is type(value)
    for word in (*TEXTS.split(), "9" * 41, "9" * 5000):
        assert resolve(word) == word


@given(st.integers(min_value=-(10**40) + 1, max_value=10**40 - 1))
def test_whole_numbers_are_exact(number: int) -> None:
    assert resolve(str(number)) == number


@given(st.text())
def test_any_word_resolves_to_itself_or_a_finite_number(word: str) -> None:
    value = resolve(word)
    assert value is None or isinstance(value, bool) or value == word or math.isfinite(float(value))


def test_a_fault_at_the_end_lies_on_the_last_line() -> None:
    assert messages("a: 1\nb: {c: 1")[0].startswith("f:2:4: malformed YAML")
    assert messages("a: 1\nbc")[0].startswith("f:2:3: malformed YAML")
    assert messages("a: 1\r\nbc")[0].startswith("f:2:3: malformed YAML")


@pytest.mark.usefixtures("each_loader")
def test_what_is_refused_is_named_with_its_place() -> None:
    for text, expected in {
        "a: &x 1": "f:1:4: anchor &x: anchors are not supported; remove it and write the values out",
        "- &x [1]\n- *x": "f:2:3: alias *x: aliases are not supported; write the value out",
        "a: !!str 1": 'f:1:4: tag "tag:yaml.org,2002:str": tags are not supported; remove it',
        "a: ! 1": 'f:1:4: tag "!": tags are not supported; remove it',
        "a: 1\na: 2": 'f:2:1: duplicate key "a": remove one of the two',
        "? [1]\n: 2": "f:1:3: a list or mapping cannot be a key; use a plain word as the key, or quote it",
        "a: 1\n--- \nb: 2": "f:2:1: a second document starts here; keep one per file and remove the --- line",
        'a: "\\e[2J"': "f:1:4: character U+001B in this text cannot be shown; delete it",
    }.items():
        assert expected in messages(text)


def test_malformed_yaml_has_place_and_remedy() -> None:
    for text, place, remedy in (
        ("a: b: c", "f:1:5:", "put text that contains a colon and a space in quotes"),
        ("\ta: 1", "f:1:1:", "indent with spaces, not tabs"),
        ("a: @b", "f:1:4:", "quote text that starts with"),
        ("x: 1\na: 'b\n", "f:2:4:", "close the quote"),
        ('a: "\\d"', "f:1:", "use single quotes or a | block"),
        ("a: {b: 1\n", "f:1:4:", "close the brace"),
        ("a: [1, 2\nb: 3", "f:", "close the bracket"),
        ("a:\n  b: 1\n c: 2", "f:3:2:", "check the indentation"),
        ("a: 1\nb\nc: 2", "f:", "a key ends with a colon"),
        ("- 1\na: 2", "f:2:1:", "items of one list start with -"),
        ("%YAML 3.0\n--- 1", "f:1:1:", "remove the %YAML line"),
    ):
        (message,) = messages(text)
        assert message.startswith(place) and "malformed YAML" in message and remedy in message


@pytest.mark.usefixtures("each_loader")
def test_deep_nesting_is_refused_and_does_not_crash() -> None:
    for text in ("[" * 1_000_000, "{a: " * 100_000, "- " * 100_000, "[\n" * 100_000):
        assert "levels; flatten it" in messages(text)[-1], text[:9]
    assert "cannot be a key" in messages("? " * 100_000)[-1]


def test_a_billion_laughs_are_refused_at_once() -> None:
    text = "a: &a [x, x]\n" + "".join(
        f"{k}: &{k} [{', '.join([f'*{j}'] * 9)}]\n" for j, k in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert len(messages(text)) == 9 + 8 * 9
    assert parse("f", text).value["i"] == [None] * 9


def test_many_problems_or_values_stop_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    found = messages("- !x 1\n" * 5000)
    assert len(found) == yaml_reader.MAX_PROBLEMS + 1
    assert "correct these first" in found[-1]
    monkeypatch.setattr(yaml_reader, "MAX_VALUES", 10)
    assert "more than 10 values in one file; split it by topic" in messages("[1,2,3,4,5,6,7,8,9,10,11]")[0]


def test_a_tagged_object_is_never_made_and_broken_values_are_known_by_their_way() -> None:
    parsed = parse("f", "a: !!python/object/apply:os.system ['exit 1']")
    assert (parsed.value, parsed.broken) == ({"a": ["exit 1"]}, {("a",)})
    assert parse("f", "a: [1, {b: *x}]\nc:\n- !t {}\n").broken == {("a", 1, "b"), ("c", 0)}


def test_a_repeated_key_keeps_the_first_value_whatever_follows() -> None:
    assert parse("f", "a: {b: 1}\na: {c: [*x, 2]}\nd: 3").value == {"a": {"b": 1}, "d": 3}


def test_bytes_that_are_no_text_are_named_and_a_byte_order_mark_is_skipped() -> None:
    for data, expected in {
        b"a: 1\nb: \xff": "f:2:4: byte 0xff is not UTF-8; save the file as UTF-8",
        "汉: ".encode() + b"\x80": "f:1:4: byte 0x80 is not UTF-8; save the file as UTF-8",
        "a: 1".encode("utf-16"): "f:1:1: byte 0xff is not UTF-8; save the file as UTF-8",
        b"a: 1\nb: \x00": "f:2:4: character U+0000 cannot be shown; delete it",
        "汉 \u2028".encode(): "f:1:3: character U+2028 cannot be shown; delete it",
        "\ufeffa: \ufeff".encode(): "f:1:4: character U+FEFF cannot be shown; delete it",
    }.items():
        with pytest.raises(UnreadableYaml) as caught:
            decode("f", data)
        assert str(caught.value.problem) == expected
    assert decode("f", "\ufeffa: 1".encode()) == "a: 1"


def reason(path: Path) -> str:
    with pytest.raises(UnreadableYaml) as caught:
        read_text(path)
    return str(caught.value.problem)


def test_files_that_cannot_be_read_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.yaml").mkdir()
    assert reason(tmp_path / "folder.yaml").endswith("this is not a regular file; give a .yaml file")
    assert "cannot be read (No such file or directory); check the path" in reason(tmp_path / "missing.yaml")
    assert "cannot be read" in reason(Path("nul\0.yaml"))
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    assert "cannot be read" in reason(tmp_path / "loop.yaml")
    (tmp_path / "secret.yaml").write_text("a: 1")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert "cannot be read (Permission denied); check the path and its permissions" in reason(tmp_path / "secret.yaml")


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as stream:
        stream.truncate(yaml_reader.MAX_BYTES + 1)
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("opened"))
    assert "MiB; split it by topic" in reason(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    assert "not a regular file" in reason(tmp_path / "pipe.yaml")


@given(st.binary(max_size=400))
def test_any_bytes_give_text_or_a_located_problem(data: bytes) -> None:
    try:
        decode("f", data)
    except UnreadableYaml as stop:
        assert stop.problem.line >= 1 and stop.problem.column >= 1


@pytest.mark.usefixtures("each_loader")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet="ab:-?[]{},&*!|>%@`'\"#\\ \n\t0x~<=", max_size=120))
def test_any_text_gives_a_value_or_located_problems(text: str) -> None:
    parsed = parse("f", text)
    assert parsed.whole or parsed.problems
    assert all(problem.line >= 1 and problem.column >= 1 for problem in parsed.problems)


@pytest.mark.usefixtures("each_loader")
def test_escapes_and_versions_beyond_all_bounds_are_refused() -> None:
    for text in ('"\\UFFFFFFFF"', '"\\uD800"', "%YAML " + "9" * 5000 + ".1\n--- 1"):
        assert messages(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(alphabet="abc: -汉", max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("abk-", min_size=1, max_size=4), inner, max_size=3)
        ),
        max_leaves=12,
    )
)
def test_what_is_dumped_is_read_back(value: object) -> None:
    assert parse("f", yaml.safe_dump(value, allow_unicode=True)).value == value


CARD = """\
topic: att
cards:
  - id: att-01
    question: {en: Why, zh: 为什么}
    points:
      - {en: a, zh: 甲}
      - en: b
  - id: att-02
"""


def place(*way: str | int, at_key: bool = False, text: str = CARD) -> tuple[int, int]:
    (problem,) = parse("f", text).located([Finding(way, quoted("m"), at_key=at_key)])
    return problem.line, problem.column


def test_values_keys_and_items_have_their_place() -> None:
    assert place("topic") == (1, 8)
    assert place("cards", 0) == (3, 5)
    assert place("cards", 0, "question", "zh") == (4, 29)
    assert place("cards", 0, "points", 1, "en") == (7, 13)
    assert place("cards", 0, "points", at_key=True) == (5, 5)
    assert place("cards", 1, "id") == (8, 9)
    assert place("a", "b", text="a: {b: 1}\na: {b: 2}\n") == (1, 8), "the first of two equal keys counts"
    assert place("a", 0, text="a:\n- 1\n- [\n") == (2, 3), "before a fault too"


def test_what_does_not_exist_stands_where_its_parent_does() -> None:
    assert place("cards", 0, "points", 1, "zh") == (7, 9)
    assert place("cards", 9, "id") == (3, 3)
    assert place("nothing") == place(text="") == (1, 1)
