"""Damage bank files at random: located messages, no exception, and a file loads fully or not at all.

Every run damages 200 files; `ATTN_FUZZ=5000` sets the number.
"""

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from attncli.bank import yaml_reader
from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.bank.loader import BankFile, bank_files, load_file
from attncli.bank.yaml_reader import decode, parse
from attncli.domain.card_kinds import card_of
from attncli.paths import bundled_quizbank

COUNT = int(os.environ.get("ATTN_FUZZ", "200"))
SNIPPETS = [
    b"\x00", b"\xff\xfe", b"\xe6\xb1", b"\t", b"&a ", b"*a ", b"!!python/object:os.system ", b"[" * 60, b"{", b"}",
    b": ", b"- ", b"\n", b"\r", b"'", b'"', b"|\n", b">-\n", b"#", b"%", b"@", b"`", b"---\n", b"...\n", b"? ", b"<<: ",
    b"~", b"null", b"true", b"1e999", b"-1", b"9" * 60, b"$", b"$$", b"\\frac", b"{{x}}", b"____", b"\xe2\x80\xa8",
    b"\xf0\x9f\x98\x80", b"\xe7\x9a\x84", b"kind: quiz\n", b"    level: hard\n", b"  - id: att-01\n", b"\x1b[2J",
]  # fmt: skip


def cut(data: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(data))
    del data[start : start + draw.choice([1, 2, 10, 200, len(data)])]


def insert(data: bytearray, draw: random.Random) -> None:
    at = draw.randrange(len(data) + 1)
    data[at:at] = draw.choice(SNIPPETS)


def flip(data: bytearray, draw: random.Random) -> None:
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def copy(data: bytearray, draw: random.Random) -> None:
    start, at = draw.randrange(len(data)), draw.randrange(len(data))
    data[at:at] = data[start : start + draw.randrange(1, 400)]


def drop_line(data: bytearray, draw: random.Random) -> None:
    lines = data.split(b"\n")
    del lines[draw.randrange(len(lines))]
    data[:] = b"\n".join(lines)


def swap_lines(data: bytearray, draw: random.Random) -> None:
    lines = data.split(b"\n")
    first, second = draw.randrange(len(lines)), draw.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    data[:] = b"\n".join(lines)


def shift_line(data: bytearray, draw: random.Random) -> None:
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    lines[at] = b" " * draw.randrange(9) + lines[at].lstrip()
    data[:] = b"\n".join(lines)


DAMAGES: list[Callable[[bytearray, random.Random], None]] = [cut, insert, flip, copy, drop_line, swap_lines, shift_line]


def damaged(seed: int, sources: list[bytes]) -> bytes:
    draw = random.Random(seed)
    data = bytearray(draw.choice(sources))
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        if data:
            draw.choice(DAMAGES)(data, draw)
    return bytes(data)


@pytest.fixture(scope="module")
def sources() -> list[bytes]:
    """Return files with two cards per topic: whole files take longer and fail alike."""
    found = []
    for path in bank_files(bundled_quizbank()):
        head, *cards = path.read_bytes().split(b"\n  - id: ")
        for first in range(0, len(cards), 2):
            found.append(b"\n  - id: ".join([head, *cards[first : first + 2]]) + b"\n")
    return found


def test_damaged_files_give_located_messages_and_nothing_half(
    sources: list[bytes], tmp_path: Path, around: Surroundings
) -> None:
    path = tmp_path / "att.yaml"
    broken = 0
    for seed in range(COUNT):
        path.write_bytes(damaged(seed, sources))
        loaded = load_file(path)
        report = check([path], around)
        broken += bool(report.problems)
        for problem in (*loaded.problems, *report.problems, *report.notes):
            assert problem.line >= 1, seed
            assert problem.column >= 1, seed
            assert problem.text.en.isprintable(), seed
            assert problem.line <= path.read_bytes().count(b"\n") + path.read_bytes().count(b"\r") + 1, seed
        all_or_nothing(loaded, path, seed)
    assert broken > COUNT // 3


def all_or_nothing(loaded: BankFile, path: Path, seed: int) -> None:
    if loaded.problems:
        assert loaded.documents == (), seed
    else:
        value: Any = parse("f", decode("f", path.read_bytes())).value
        assert len(loaded.documents) == len(value["cards"]), seed
        assert [card_of(document).id for document in loaded.documents] == [card["id"] for card in value["cards"]], seed


def test_the_pure_reader_is_as_robust(sources: list[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_reader, "LOADER", yaml.SafeLoader)
    path = tmp_path / "att.yaml"
    for seed in range(COUNT // 5):
        path.write_bytes(damaged(seed, sources))
        all_or_nothing(load_file(path), path, seed)
