"""Make a data folder with very many cards and reviews."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from attncli import paths
from attncli.domain.log_row import LogRow, RowKind
from attncli.practice.workspace import Workspace

CARDS_PER_FILE = 5_000
NOW = datetime.now(UTC)
MACHINE = "0badcafe"

CARD = """  - id: {topic}-{number:06d}
    kind: qa
    level: screen
    question:
      en: "Generated question {number} of {topic}: what does step {number} do?"
      zh: "{topic} 的生成题 {number}：第 {number} 步做什么？"
    short: {{en: "{words}", zh: "{characters}"}}
    explain: {{en: "Because it is generated.", zh: "因为是生成的。"}}
    points: [{{en: "one", zh: "一"}}, {{en: "two", zh: "二"}}, {{en: "three", zh: "三"}}]
    sources: [{{id: "arxiv:1706.03762"}}]
"""


def write_banks(folder: Path, cards: int) -> list[str]:
    """Write generated bank files to `folder`; return the ids of their cards."""
    folder.mkdir(parents=True, exist_ok=True)
    ids: list[str] = []
    words, characters = " ".join(["word"] * 60), "字" * 120
    for first in range(0, cards, CARDS_PER_FILE):
        topic = f"gen{first // CARDS_PER_FILE:03d}"
        numbers = range(first, min(cards, first + CARDS_PER_FILE))
        head = f"topic: {topic}\nlicence: CC-BY-4.0\ntitle: {{en: Generated {topic}, zh: 生成 {topic}}}\ncards:\n"
        text = head + "".join(CARD.format(topic=topic, number=n, words=words, characters=characters) for n in numbers)
        (folder / f"{topic}.yaml").write_text(text, encoding="utf-8")
        ids += [f"{topic}-{n:06d}" for n in numbers]
    return ids


def fill(home_folder: Path, cards: int, reviews: int) -> None:
    """Write the banks, index them, add the reviews to the log and derive every schedule."""
    home = paths.home(home_folder, {})
    ids = write_banks(home.banks, cards)
    with Workspace.open(home, lambda: NOW) as workspace:
        with workspace.store.transaction():
            workspace.store.log.merge(_reviews(workspace, ids, reviews), refuse)
        workspace.derive_all()


def refuse(row: LogRow) -> None:
    """Raise ValueError for a row whose id exists with other content."""
    raise ValueError(f"row {row.id} is there with another content")


def _reviews(workspace: Workspace, ids: list[str], reviews: int) -> Iterator[LogRow]:
    draw, machine = random.Random(0), MACHINE
    for number in range(1, reviews + 1):
        at = NOW - timedelta(days=400) + timedelta(seconds=(number - 1) * 400 * 86400 / reviews)
        payload = {"rating": draw.choice((1, 2, 3, 3, 3, 4))}
        id = f"{number:012x}-{machine}-{draw.getrandbits(32):08x}"
        yield LogRow(id, machine, RowKind.REVIEW, draw.choice(ids), at, workspace.calendar.day(at), payload)
