"""The tools that an assistant is given: what each takes, and what it does with a sitting."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from attncli.domain.printable import escaped, printable
from attncli.domain.rating import Rating
from attncli.domain.rungs import RUNGS
from attncli.domain.text import Lang
from attncli.errors import NotFound, UsageError
from attncli.practice import assistant_coding
from attncli.practice.assistant import AssistantSitting
from attncli.words.assistant_texts import ARGUMENTS, DESCRIPTIONS, TITLES

Schema = Mapping[str, Any]
LONGEST_SAID = 300
LONGEST_FAULT = 160

_TEXT: Schema = {"type": "string", "maxLength": 10_000}
_NAME: Schema = {"type": "string", "maxLength": 200}
_PATH: Schema = {"type": "string", "maxLength": 4000}
_SOURCE: Schema = {"type": "string", "maxLength": 128 * 1024}
_YES: Schema = {"type": "boolean"}
_NUMBERS: Schema = {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 100}
_TEXTS: Schema = {"type": "array", "items": {"type": "string", "maxLength": 2000}, "maxItems": 100}
_RATING: Schema = {"type": "string", "enum": [rating.word for rating in Rating]}
_RUNG: Schema = {"type": "string", "enum": list(RUNGS)}


@dataclass(frozen=True, slots=True)
class Tool:
    """`takes` says what each argument is, `needs` which must be there; `run` is None for grading, which takes long."""

    name: str
    run: Callable[..., dict[str, Any]] | None
    takes: Mapping[str, Schema] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    only_reads: bool = False

    def schema(self, lang: Lang) -> dict[str, Any]:
        """The JSON schema of its arguments, with their descriptions."""
        told = {name: {**schema, "description": self._about(name)[lang]} for name, schema in self.takes.items()}
        return {"type": "object", "properties": told, "required": list(self.needs), "additionalProperties": False}

    def title(self, lang: Lang) -> str:
        return TITLES[f"title.{_key(self.name)}"][lang]

    def description(self, lang: Lang) -> str:
        return DESCRIPTIONS[f"about.{_key(self.name)}"][lang]

    def _about(self, argument: str) -> Any:
        return ARGUMENTS[f"argument.{_key(self.name)}.{_key(argument)}"]

    def checked(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments, if they fit the schema. Raises UsageError that names the first that does not."""
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import best_match

        fault = best_match(Draft202012Validator(self.schema("en")).iter_errors(dict(arguments)))
        if fault is not None:
            where = "".join(f"{part}: " for part in fault.absolute_path)
            said = fault.message if len(fault.message) < LONGEST_FAULT else f"breaks {fault.validator}"
            raise UsageError(f"{self.name}: {where}{one_line(said)}; its input schema says what it takes")
        return {name: _whole(value) for name, value in arguments.items()}


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("due", AssistantSitting.due, only_reads=True),
        Tool("next_card", AssistantSitting.next_card, {"topic": _NAME, "card": _NAME, "weak": _YES}, only_reads=True),
        Tool(
            "attempt",
            AssistantSitting.attempt,
            {"card": _NAME, "text": _TEXT, "numbers": _NUMBERS, "blanks": _TEXTS, "gave_up": _YES},
            ("card",),
        ),
        Tool(
            "rate",
            lambda tutor, card, rating, points=None: tutor.rate(card, Rating.of(rating), points),
            {"card": _NAME, "rating": _RATING, "points": _NUMBERS},
            ("card", "rating"),
        ),
        Tool(
            "challenges",
            lambda tutor, track=None: assistant_coding.listed(tutor.workspace, track),
            {"track": _NAME},
            only_reads=True,
        ),
        Tool(
            "start",
            lambda tutor, challenge, bug=False, fresh=False: assistant_coding.started(
                tutor.workspace, challenge, bug, fresh
            ),
            {"challenge": _NAME, "bug": _YES, "fresh": _YES},
            ("challenge",),
        ),
        Tool(
            "hint",
            lambda tutor, challenge: assistant_coding.hinted(tutor.workspace, challenge),
            {"challenge": _NAME},
            ("challenge",),
        ),
        Tool("grade", None, {"challenge": _NAME, "file": _PATH, "source": _SOURCE, "rung": _RUNG}, ("challenge",)),
        Tool("stats", AssistantSitting.stats, only_reads=True),
    )
}


def tool(name: str) -> Tool:
    """The tool of this name. Raises NotFound with all there are."""
    if name not in TOOLS:
        raise NotFound(f"there is no tool {one_line(name)}; there are {', '.join(TOOLS)}")
    return TOOLS[name]


def one_line(text: str) -> str:
    """An error as it may be told: one line, not too long, with nothing hidden in it."""
    line = " ".join(printable(text).split())
    return line if len(line) <= LONGEST_SAID else f"{line[:LONGEST_SAID]} …"


def json_safe(value: Any) -> Any:
    """A document that any JSON reader takes: no lone surrogates, no numbers that JSON lacks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {json_safe(str(key)): json_safe(child) for key, child in value.items()}
    return [json_safe(child) for child in value] if isinstance(value, (list, tuple)) else value


def json_text(document: Any) -> str:
    """The document as the text of a result."""
    return escaped(json.dumps(document, ensure_ascii=False))


def _key(name: str) -> str:
    """How the words name a tool or an argument."""
    return name.replace("_", "-")


def _whole(value: Any) -> Any:
    """JSON knows one kind of number: 1.0 is a whole one."""
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
