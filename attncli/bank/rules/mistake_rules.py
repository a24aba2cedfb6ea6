"""What is wrong with how a wrong solution tells its mistake."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from attncli.bank.problems import did_you_mean, one_of, shown
from attncli.bank.rules.formula_rules import formula_findings
from attncli.bank.rules.hidden_characters import hidden_findings
from attncli.domain.chinese_characters import is_chinese
from attncli.domain.mistakes import (
    CARDS,
    FIELDS,
    RUNG,
    SUMMARY,
    SUMMARY_ZH,
    SYMPTOM,
    SYMPTOM_ZH,
    Field,
    fields_in,
    listed,
)
from attncli.domain.rungs import RUNGS

MOST_COLUMNS = 140
_REMEDIES = {
    SUMMARY: "say in its first line what the file gets wrong",
    SUMMARY_ZH: "say in Chinese, below the English, what the file gets wrong",
    SYMPTOM: "write what one would observe as symptom: …",
    SYMPTOM_ZH: "write what one would observe as 症状：…",
    CARDS: "name the cards that explain it as cards: att-01, att-02",
    RUNG: "write the rung that it must not reach as rung: solved (a mistake in the technique) or rung: hardened",
}


def docstring_faults(tree: ast.Module, card_faults: Callable[[str], Iterator[str]]) -> Iterator[tuple[int, str]]:
    """(line, what is wrong) of the docstring of a wrong file; `card_faults` says what is wrong with a card's id."""
    docstring = ast.get_docstring(tree, clean=False) or ""
    first = tree.body[0].lineno if tree.body else 1
    told: dict[str, Field] = {}
    for field in fields_in(docstring):
        line = first + field.line - 1
        if field.name not in FIELDS:
            guess = did_you_mean(field.name, FIELDS) or one_of(FIELDS[2:])
            yield line, f"field {shown(field.name, 40)} is not known; {guess}"
        elif field.name in told:
            yield line, f"{shown(field.name)} is told twice; keep one"
        told.setdefault(field.name, field)
    for name, remedy in _REMEDIES.items():
        if name not in told or not told[name].text:
            line = first + told[name].line - 1 if name in told else first
            yield line, f"the docstring has no {name}; {remedy}"
    for field in told.values():
        yield from ((first + field.line - 1, message) for message in _text_faults(field, card_faults))
    for number, text in enumerate(docstring.splitlines(), first):
        if len(text) > MOST_COLUMNS:
            yield number, f"this line has {len(text)} characters, may have {MOST_COLUMNS}; break it"


def _text_faults(field: Field, card_faults: Callable[[str], Iterator[str]]) -> Iterator[str]:
    for finding in (*hidden_findings(field.text), *formula_findings({"en": field.text, "zh": ""})):
        yield finding.message
    if field.name == CARDS:
        for card in listed(field.text):
            yield from card_faults(card)
    elif field.name == RUNG and field.text and field.text not in RUNGS:
        yield f"rung {shown(field.text, 40)} is not known; {did_you_mean(field.text, RUNGS) or one_of(RUNGS)}"
    elif field.name == SYMPTOM_ZH and field.text and not is_chinese(field.text):
        yield f"{SYMPTOM_ZH} has no Chinese; write it in Chinese"
