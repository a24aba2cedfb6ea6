"""What a learner's own card may leave out, and what stands there instead: one language, a question and an answer do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attncli.bank.problems import Way
from attncli.domain.text import LANGS

_LEFT_OUT = {"kind": "qa", "level": "onsite"}
_LEFT_OUT_OF_NUMERIC = {"unit": "", "tolerance": "1%"}
_TEXTS = ("question", "short", "explain", "symptom", "fix")


class _Completion:
    """`filled` are the ways to what was not written."""

    def __init__(self) -> None:
        self.filled: set[Way] = set()

    def file(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        cards = value.get("cards")
        whole = dict(value)
        if isinstance(whole.get("title"), str):
            whole["title"] = self._both(whole["title"], ("title",))
        if isinstance(cards, list):
            whole["cards"] = [self._card(card, ("cards", number)) for number, card in enumerate(cards)]
        return self._inside(whole, ())

    def _card(self, card: Any, way: Way) -> Any:
        if not isinstance(card, dict):
            return card
        whole = {**_LEFT_OUT, **card}
        if whole["kind"] == "numeric":
            whole = {**_LEFT_OUT_OF_NUMERIC, **whole}
        for key in _TEXTS:
            if isinstance(whole.get(key), str):
                whole[key] = self._both(whole[key], (*way, key))
        if isinstance(points := whole.get("points"), list):
            whole["points"] = [
                self._both(point, (*way, "points", number)) if isinstance(point, str) else point
                for number, point in enumerate(points)
            ]
        return whole

    def _both(self, text: str, way: Way) -> dict[str, str]:
        self.filled.add((*way, LANGS[1]))
        return dict.fromkeys(LANGS, text)

    def _inside(self, value: Any, way: Way) -> Any:
        if isinstance(value, list):
            return [self._inside(inner, (*way, number)) for number, inner in enumerate(value)]
        if not isinstance(value, dict):
            return value
        return self._text({key: self._inside(inner, (*way, key)) for key, inner in value.items()}, way)

    def _text(self, value: dict[Any, Any], way: Way) -> Mapping[Any, Any]:
        """A text in one language as one in both."""
        there = [lang for lang in LANGS if isinstance(value.get(lang), str) and value[lang].strip()]
        missing = [lang for lang in LANGS if lang not in value]
        if len(there) != 1 or not missing:
            return value
        self.filled.add((*way, missing[0]))
        return {**value, missing[0]: value[there[0]]}


def completed(value: Any) -> tuple[Any, frozenset[Way]]:
    """The value of an own bank file with all that its cards leave out, and the ways to texts that were not written.

    A text in one language stands for both, a plain text too. A card without a kind is `qa`, one without a level
    `onsite`; a number without a unit is plain, and right to 1 %.
    """
    completion = _Completion()
    return completion.file(value), frozenset(completion.filled)
