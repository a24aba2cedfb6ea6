"""Write a learner's own card, the draft of one, or the folder of a new challenge from templates."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from itertools import count
from keyword import iskeyword
from pathlib import Path
from unicodedata import normalize

from attncli import paths
from attncli.bank.loader import NOT_CARDS, BankFile, load_file
from attncli.bank.problems import shown_path
from attncli.domain.card import is_identifier
from attncli.errors import InvalidInput, UsageError, reason_of, remedy_for, unwritable
from attncli.i18n import Lang, _
from attncli.paths import write_text
from attncli.practice.workspace import Workspace

LONGEST_TOPIC = 40
_CARD = re.compile(r"^( *)- +id:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NewCard:
    """A card that was written; `line` is its first line in its file."""

    id: str
    path: Path
    line: int


def add_card(workspace: Workspace, topic: str, question: str = "", answer: str = "") -> NewCard:
    """Add a card of `topic` to the file of that name in the learner's own banks, in the learner's language.

    A missing question or answer gets a placeholder. Raises InvalidInput for an invalid topic name, UsageError for a
    file that has errors or does not end in a list of cards.
    """
    topic = normalize("NFC", topic.strip().lower())
    if not is_identifier(topic, LONGEST_TOPIC):
        message = _(
            "“{topic}” is not a valid topic; use lower-case letters, digits and single hyphens, e.g. mine",
            topic=topic[:40],
        )
        raise InvalidInput(message, "topic")
    path = workspace.home.banks / f"{topic}.yml"
    if not path.exists():
        path = workspace.home.banks / f"{topic}.yaml"
    if path.name in NOT_CARDS:
        raise UsageError(
            _(
                "“{topic}” cannot be a topic: {name} is not a card file; choose another name",
                topic=topic,
                name=path.name,
            )
        )
    bank = load_file(path, own=True) if path.exists() else BankFile(path, "cards")
    if bank.problems:
        raise UsageError(_("{problems}; fix this first, then add the card", problems=bank.problems[0].text))
    before = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else f"topic: {topic}\ncards:"
    index = workspace.store.index
    taken = {*index.card_ids(), *index.challenge_ids(), *index.renames()}
    taken |= {document["id"] for document in bank.documents}
    stem = _stem(workspace, topic)
    id = next(id for number in count(1) if (id := f"{stem}-{number:02d}") not in taken)
    indent = (_CARD.findall(before) or ["  "])[-1]
    added = [f"{indent}{line}" for line in _lines(id, question, answer, workspace.lang)]
    space = [""] if bank.documents else []
    _write_bank(path, "\n".join([before, *space, *added, ""]), len(bank.documents) + 1)
    return NewCard(id, path, before.count("\n") + len(space) + 2)


def _stem(workspace: Workspace, topic: str) -> str:
    """Return the beginning of new ids: `kv-own` if the topic has bundled cards, else `kv`."""
    index, own = workspace.store.index, workspace.home.banks
    cards = index.list_cards(topic)
    is_bundled = any(not Path(index.owner(card.id)).is_relative_to(own) for card in cards)
    return f"{topic}-own" if is_bundled else topic


def _lines(id: str, question: str, answer: str, lang: Lang) -> list[str]:
    texts = {
        "question": question.strip() or _("Write the question here.")[lang],
        "short": answer.strip() or _("Write the answer here.")[lang],
    }
    return [
        f"- id: {id}",
        *(f"  {key}: {{{lang}: {json.dumps(text, ensure_ascii=False)}}}" for key, text in texts.items()),
    ]


def _write_bank(path: Path, text: str, cards: int) -> None:
    """Write the file if it parses as a bank with this number of cards."""
    if len(load_file(path, own=True, text=text).documents) != cards:
        raise UsageError(_("{path} does not end with a list of cards; add the card by hand", path=shown_path(path)))
    write_text(path, text, _("choose another folder with --home"))


# Drafts: typed text survives however the app ends


@dataclass(frozen=True, slots=True)
class CardDraft:
    """The text in the fields of the form."""

    topic: str
    question: str = ""
    answer: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.question.strip() or self.answer.strip())


def read_draft(path: Path, default: CardDraft) -> CardDraft:
    """Return the saved draft, or `default` if there is none. Raises UsageError for a file without a draft."""
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        texts = [fields[name] for name in ("topic", "question", "answer")]
        if all(isinstance(text, str) for text in texts):
            return CardDraft(*texts)
    except FileNotFoundError:
        return default
    except OSError as error:
        held = _("it holds your unfinished card")
        message = _("cannot read {path} ({reason}); {remedy}", path=path, reason=reason_of(error), remedy=held)
        raise UsageError(message) from error
    except (ValueError, KeyError, TypeError):
        pass
    raise UsageError(_("{path} does not hold an unfinished card; move it away", path=path))


def keep_draft(path: Path, draft: CardDraft) -> None:
    """Save the draft. Raises EnvironmentFailure or UsageError if it cannot be written."""
    write_text(path, json.dumps(asdict(draft), ensure_ascii=False) + "\n", _("make the folder writable"))


def drop_draft(path: Path) -> None:
    """Delete the saved draft, if there is one. Raises UsageError if it cannot be removed."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        remedy = remedy_for(error, _("make the folder writable"))
        raise UsageError(
            _("cannot remove {path} ({strerror}); {remedy}", path=path, strerror=reason_of(error), remedy=remedy)
        ) from error


# Challenges

_FILES = {
    "challenge.yaml": """\
level: 1
title: {{en: "{title}", zh: "{title}（中文名）"}}
entry: [{function}]
statement:
  en: |
    Say in one sentence what it is.

    ```python
    def {function}(x: Tensor) -> Tensor
    ```

    `x` is (..., D) with any number of leading dimensions. Say what the result is, and what makes it this technique.
  zh: |
    用一句话说明它是什么。

    ```python
    def {function}(x: Tensor) -> Tensor
    ```

    `x` 的形状是 (..., D)，前导维度任意多个。说明输出是什么，以及这种方法的关键在哪里。
hints:
  - {{en: The first hint names the idea., zh: 第一条提示点出思路。}}
  - {{en: The second one says how to go about it., zh: 第二条提示说明怎么下手。}}
  - {{en: The third one is nearly the code., zh: 第三条提示接近代码。}}
required: [loads, matches-reference, gradients, edge-cases, low-precision, layout, device, pure, forbidden]
badges: [speed]
forbidden: []
cards: []
follow_ups:
  - ask: {{en: What is asked first?, zh: 首先会追问什么？}}
    answer: {{en: One or two sentences., zh: 用一两句话回答。}}
  - ask: {{en: What is asked next?, zh: 接着追问什么？}}
    answer: {{en: One or two sentences., zh: 用一两句话回答。}}
  - ask: {{en: What is asked last?, zh: 最后追问什么？}}
    answer: {{en: One or two sentences., zh: 用一两句话回答。}}
sources: []
""",
    "reference.py": '''\
"""{title}: the idea in one sentence.

Decisions: what a reader would ask about. Authors, year, arXiv number.
"""

from __future__ import annotations

import torch
from torch import Tensor


def {function}(x: Tensor) -> Tensor:
    y = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., D): 16 bits are computed in float32
    raise NotImplementedError("return (…).to(x.dtype)")
''',
    "inputs.py": '''\
"""One sentence that describes the generated inputs."""

from __future__ import annotations

import torch

AXES = {{"x": "... D", "return": "... D"}}
SIZES = {{"D": (1, 7, 150)}}


def case(make):
    make.call("{function}", make.argument("x"))


def edge_zeros(make):
    """nothing but zeros

    全是零
    """
    make.call("{function}", make.keep(torch.zeros(2, 5), grad=True))
''',
    "wrong/first-mistake.py": '''\
"""Says in one line what is wrong with this file.
用一行中文说明这份解答错在哪里。

symptom: What one would observe.
症状：会看到什么现象。

cards:
rung: solved
"""

from __future__ import annotations

import torch
from torch import Tensor


def {function}(x: Tensor) -> Tensor:
    y = x.to(torch.promote_types(x.dtype, torch.float32))  # (..., D): 16 bits are computed in float32
    raise NotImplementedError("return (…).to(x.dtype)")
''',
}


def new_challenge(workspace: Workspace, name: str) -> Path:
    """Create the folder of challenge `TRACK/ID`: in a checkout among the bundled ones, else among the learner's own.

    Reference and one wrong solution are left to write. Raises UsageError for an invalid or taken name; nothing is ever
    overwritten.
    """
    track, _slash, id = name.partition("/")
    if not all(is_identifier(part) for part in (track, id)):
        raise UsageError(
            _(
                "{name} is not a challenge name; write TRACK/ID in lower-case letters, digits and single hyphens",
                name=name,
            )
        )
    index = workspace.store.index
    taken = [file.parent for file in workspace.source_files.challenge_files() if file.parent.name == id]
    if taken or index.owner(id):
        if taken:
            raise UsageError(
                _("the challenge in {folder} already has the id {id}; choose another", folder=taken[0], id=id)
            )
        raise UsageError(_("a card already has the id {id}; choose another", id=id))
    impl = workspace.source_files.impl if paths.in_checkout() else workspace.home.challenges
    folder = impl / track / id
    try:
        _write_folder(folder, _texts(id))
    except FileExistsError as error:
        raise UsageError(
            _("{folder} already exists and will not be overwritten; choose another id", folder=folder)
        ) from error
    except OSError as error:
        raise UsageError(unwritable(folder, error, _("check the permissions of its folders"))) from error
    return folder


def _texts(id: str) -> dict[str, str]:
    function = id.replace("-", "_")
    if not function.isidentifier() or iskeyword(function):
        function = f"the_{function}"
    title = id.replace("-", " ").capitalize()
    return {file: text.format(function=function, title=title) for file, text in _FILES.items()}


def _write_folder(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True)
    for part in ("wrong", "right"):
        (folder / part).mkdir()
    for file, text in texts.items():
        with (folder / file).open("x", encoding="utf-8") as out:
            out.write(text)
