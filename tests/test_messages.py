"""Every message of the program is in the catalogue, whole in both languages."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po

import attncli
from attncli.i18n import CATALOGUE

PACKAGE = Path(attncli.__file__).parent
MARKS = {"_": 0, "N_": 0, "ngettext": 0, "pgettext": 1}
Key = tuple[str, tuple[str, ...]]
EMPTY_IN_CHINESE = {("sentences", (" ",))}
"""A space between English sentences, which Chinese does without."""
OF_THE_SANDBOX = ("{said}",)
"""The sandbox composes its own English, which this message passes on."""
BILINGUAL = {"i18n.py", "domain/statement.py", "judge/grade.py"}
"""Files with a separator that Chinese does without, or a text in both languages."""


def calls(node: ast.AST) -> Iterator[ast.Call]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in MARKS and call.args:
            yield call


def sources() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name != "i18n.py":
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def key_of(call: ast.Call) -> Key | None:
    """Return context and texts of a message; None for one that is looked up by a name."""
    assert isinstance(call.func, ast.Name)
    texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    first, count = MARKS[call.func.id], 2 if call.func.id == "ngettext" else 1
    if len(texts) < first + count:
        return None
    return (texts[0] if first else "", tuple(texts[first : first + count]))


def in_catalogue() -> dict[Key, Message]:
    with CATALOGUE.with_suffix(".po").open("rb") as file:
        catalogue = read_po(file)
    assert not catalogue.obsolete
    return {
        (message.context or "", (message.id,) if isinstance(message.id, str) else tuple(message.id)): message
        for message in catalogue
        if message.id
    }


WRITTEN = {key for _, tree in sources() for call in calls(tree) if (key := key_of(call))}
KNOWN = in_catalogue()


def chinese(message: Message) -> str:
    return message.string if isinstance(message.string, str) else "".join(message.string or ())


def places(text: str) -> set[str]:
    return {re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(text) if name}


def test_the_catalogue_holds_the_messages_of_the_code() -> None:
    written, known = ({(context, texts[0]) for context, texts in keys} for keys in (WRITTEN, KNOWN))
    assert (written - known, known - written) == (set(), set()), "run make messages"


def test_no_message_is_hidden_in_an_f_string_or_is_one() -> None:
    hidden = {
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for call in calls(node)
    }
    made = {
        f"{path.relative_to(PACKAGE)}:{call.lineno}"
        for path, tree in sources()
        for call in calls(tree)
        if any(isinstance(arg, ast.JoinedStr) for arg in call.args[:2])
    }
    assert (hidden, made) == (set(), set()), "no extractor finds these"


@pytest.mark.parametrize("key", sorted(KNOWN.keys() - EMPTY_IN_CHINESE), ids=lambda key: key[1][-1][:60])
def test_a_message_has_its_chinese_with_the_same_places(key: Key) -> None:
    assert chinese(KNOWN[key]).strip(), "translate it in attn.po"
    assert key[1] == OF_THE_SANDBOX or places(chinese(KNOWN[key])) == places(key[1][-1])


def test_chinese_is_punctuated_as_chinese() -> None:
    wrong = re.compile(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?!\d)")
    assert [chinese(message) for message in KNOWN.values() if wrong.search(chinese(message))] == []


def test_no_bilingual_text_stands_in_the_code() -> None:
    found = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if re.search(r"Localised\(\s*f?\"", path.read_text(encoding="utf-8"))
    }
    assert found == BILINGUAL
