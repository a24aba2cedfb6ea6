"""An assistant that calls tools at random, sensibly or not; every secret text of its bank names its card."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from attncli.domain.grade_report_text import VERDICTS
from attncli.servers.mcp import TOOLS

SHOWN = {"card", "topic", "kind", "level", "question", "options", "items", "code", "blanks", "how"}
"""Parts of a card that may be shown before an attempt."""
FACTORS = {"att": 104729, "kv": 611953}
REFERENCE = "secret-reference"
HIDDEN = "secret-input"
RIGHT = "secret-right"
JUNK: list[Any] = [
    *("", " ", "\n", "none", "att-01", "kv-99", "-1", "’; --", "注意", "x" * 300, None, True, 1.0, -1, [], {})
]


def _both(text: str) -> str:
    return f'{{en: "{text}", zh: "{text}"}}'


def _behind(id: str, points: bool = False) -> str:
    """Return all parts that a card can have behind its question."""
    told = "".join(f"    {key}: {_both(f'secret-{id} {key}')}\n" for key in ("short", "explain"))
    if points:
        told += f"    points: [{', '.join(_both(f'secret-{id} point {n}') for n in range(3))}]\n"
    return told + f"    pitfalls: [{_both(f'secret-{id} pitfall')}]\n"


def _card(id: str, kind: str, inside: str) -> str:
    return f"  - id: {id}\n    kind: {kind}\n    level: screen\n    question: {_both(f'ask {id}')}\n{inside}"


def write_bank(folder: Path) -> Path:
    """Write two topics with twelve cards, two of every kind."""
    folder.mkdir()
    for topic in ("att", "kv"):
        cards = [_card(f"{topic}-01", "qa", _behind(f"{topic}-01", points=True))]
        options = [
            f"      - {{text: {_both(f'option {n}')}, why_not: {_both(f'secret-{topic}-02 why {n}')}}}\n"
            for n in range(3)
        ]
        options.append(f"      - {{text: {_both('option 3')}, correct: true}}\n")
        cards.append(_card(f"{topic}-02", "choice", f"    options:\n{''.join(options)}{_behind(f'{topic}-02')}"))
        blanks = "".join(f'      - {{answer: "secret-{topic}-03 {n}"}}\n' for n in range(2))
        cloze = _card(f"{topic}-03", "cloze", f"    blanks:\n{blanks}{_behind(f'{topic}-03')}")
        cards.append(cloze.replace(f'"ask {topic}-03"', f'"____ over ____ in {topic}"'))
        numeric = f"    parameters:\n      n: [7919, 7907]\n    compute: n * {FACTORS[topic]}\n    unit: ''\n"
        numeric += "    tolerance: 1%\n"
        slip = f'    slips: [{{compute: "n", says: {_both(f"secret-{topic}-04 slip")}}}]\n'
        cards.append(_card(f"{topic}-04", "numeric", f"{numeric}{slip}{_behind(f'{topic}-04')}").replace(
            f'"ask {topic}-04"', f'"{{{{n}}}} times {topic}?"'
        ))  # fmt: skip
        items = "".join(f"      - {{key: k{n}, text: {_both(f'item {n}')}}}\n" for n in range(3))
        order = f"    items:\n{items}    before: [[k0, k1], [k1, k2]]\n"
        cards.append(_card(f"{topic}-05", "ordering", f"{order}{_behind(f'{topic}-05')}"))
        code = "    code: |\n      a = 1\n      b = 2\n    lines: [2]\n"
        bug = f"    symptom: {_both(f'secret-{topic}-06 symptom')}\n    fix: {_both(f'secret-{topic}-06 fix')}\n"
        cards.append(_card(f"{topic}-06", "debug", f"{code}{bug}{_behind(f'{topic}-06')}"))
        head = f"topic: {topic}\nlicence: CC-BY-4.0\ntitle: {_both(topic)}\ncards:\n"
        (folder / f"{topic}.yaml").write_text(head + "".join(cards), encoding="utf-8")
    return folder


def write_secrets(challenge: Path) -> None:
    """Mark the hidden files of a challenge with secret texts."""
    reference = challenge / "reference.py"
    reference.write_text(reference.read_text(encoding="utf-8").replace("# (...)", f"# {REFERENCE}"), encoding="utf-8")
    (challenge / "inputs.py").write_text(f'"""{HIDDEN}"""\n', encoding="utf-8")
    (challenge / "right").mkdir()
    (challenge / "right" / "other.py").write_text(f"# {RIGHT}\n", encoding="utf-8")


def secrets_of(card: str) -> tuple[str, ...]:
    """Return the texts that may not be shown before an attempt at the card: its marks, and both possible results."""
    numbers = [n * FACTORS[card[:-3]] for n in (7919, 7907)] if card.endswith("-04") else []
    return (f"secret-{card}", *(form for number in numbers for form in (str(number), f"{number:,}")))


@dataclass
class RandomAssistant:
    """Draws the next call from its earlier replies, sometimes nonsense."""

    rng: Random
    challenge: str
    files: list[str]
    card: str = ""
    told: dict[str, Any] = field(default_factory=dict)

    def call(self) -> tuple[str, dict[str, Any]]:
        rng = self.rng
        names = ["next_card"] * 4 + ["attempt"] * 6 + ["rate"] * 5 + [*TOOLS]
        name = rng.choice(names)
        arguments = getattr(self, f"_{name}", dict)()
        if rng.random() < 0.1:
            arguments[rng.choice([*TOOLS[name].takes, "what"])] = rng.choice(JUNK)
        if arguments and rng.random() < 0.05:
            del arguments[rng.choice(list(arguments))]
        return name, arguments

    def heard(self, name: str, document: dict[str, Any]) -> None:
        if name == "next_card":
            self.card, self.told = document["card"] or "", document

    def _next_card(self) -> dict[str, Any]:
        choices: list[dict[str, Any]] = [{}, {}, {}, {"topic": "att"}, {"topic": "kv"}, {"weak": True}]
        choices += [{"card": f"{self.rng.choice(['att', 'kv'])}-0{self.rng.randrange(8)}"}]
        return dict(self.rng.choice(choices))

    def _some_card(self) -> str:
        return self.card if self.rng.random() < 0.9 else f"att-0{self.rng.randrange(7)}"

    def _attempt(self) -> dict[str, Any]:
        rng, answer = self.rng, {"card": self._some_card()}
        if rng.random() < 0.1:
            return {**answer, "gave_up": True}
        match self.told.get("kind"):
            case "choice":
                given: Any = {"numbers": [rng.randrange(1, 5)]}
            case "ordering":
                given = {"numbers": rng.sample([1, 2, 3], 3)}
            case "debug":
                given = {"numbers": [rng.randrange(1, 4)]}
            case "cloze":
                given = {"blanks": [rng.choice(["", "a"]), "b"]}
            case "numeric":
                given = {"text": rng.choice(["12", "no number", f"{7919 * FACTORS[self.told['topic']]}"])}
            case _:
                given = {"text": rng.choice(["It divides.", "我不确定"])}
        return {**answer, **given}

    def _rate(self) -> dict[str, Any]:
        told: dict[str, Any] = {"card": self._some_card(), "rating": self.rng.choice(["again", "hard", "good", "easy"])}
        return {**told, "points": [self.rng.randrange(1, 5)]} if self.rng.random() < 0.3 else told

    def _start(self) -> dict[str, Any]:
        return {"challenge": self.challenge, "fresh": self.rng.random() < 0.2, "bug": self.rng.random() < 0.3}

    def _hint(self) -> dict[str, Any]:
        return {"challenge": self.challenge}

    def _grade(self) -> dict[str, Any]:
        how: list[dict[str, Any]] = [{}, {"source": "def double(x): return x"}, {"file": self.rng.choice(self.files)}]
        return {"challenge": self.challenge, **self.rng.choice(how)}


def assert_no_leak(name: str, answer: Any, put: str, attempted: bool) -> None:
    """Fail if an answer leaks a secret. `put` is the card asked; `attempted`: this call was its successful attempt."""
    said = json.dumps(answer, ensure_ascii=False)
    for secret in (REFERENCE, HIDDEN, RIGHT):
        assert secret not in said, (name, said)
    for topic in ("att", "kv"):
        for number in range(1, 7):
            card = f"{topic}-0{number}"
            if not (attempted and card == put):
                assert not [secret for secret in secrets_of(card) if secret in said], (name, card, said)
    if name == "next_card" and isinstance(answer, dict) and answer.get("card"):
        assert answer.keys() <= SHOWN
    assert not (name == "grade" and isinstance(answer, dict) and answer["verdict"] not in VERDICTS)
