"""Every message has a Chinese form, is rendered in the reader's language, and uses one term for one thing."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import TypeGuard

import click
import pytest
from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

import attncli
from attncli import i18n
from attncli.bank.loader import GLOSSARY, load_glossary
from attncli.errors import UsageError
from attncli.i18n import LANGS, N_, Localised, Message, _, ngettext, pgettext, quoted
from prose import Terms

PACKAGE = Path(attncli.__file__).parent
SOURCES = [("**.py", "python"), ("**.j2", "jinja2")]
Key = tuple[str, tuple[str, ...]]


def catalogue(name: str) -> Catalog:
    with i18n.CATALOGUE.with_name(f"{name}.po").open("rb") as file:
        return read_po(file)


def as_tuple(text: str | tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def chinese(name: str) -> Iterator[tuple[Key, tuple[str, ...]]]:
    for message in catalogue(name):
        if message.id:
            yield (message.context or "", as_tuple(message.id)), as_tuple(message.string)


def placeholders(text: str) -> set[str]:
    return {re.split(r"[.\[]", name)[0] for _literal, name, _spec, _conversion in Formatter().parse(text) if name}


@pytest.mark.slow
def test_every_message_of_the_code_is_in_the_catalogue_and_no_other() -> None:
    written = {(context or "", as_tuple(text)) for *_place, text, _notes, context in extract_from_dir(PACKAGE, SOURCES)}
    listed = {key for key, _texts in chinese("attn")}
    assert written - listed == set(), "run `make messages`, then translate"
    assert listed - written == set(), "run `make messages`"


@pytest.mark.parametrize("name", ["attn", "click"])
def test_every_message_has_its_chinese_with_the_same_placeholders(name: str) -> None:
    for (_context, english), texts in chinese(name):
        assert all(texts) or not "".join(english).strip(), english
        for text in texts:
            assert placeholders(text) <= set().union(*map(placeholders, english)), english
            assert placeholders(text) == placeholders(english[-1]) or name == "click", english


def test_chinese_is_punctuated_as_chinese() -> None:
    wrong = re.compile(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?!\d)")
    assert [
        text for name in ("attn", "click") for _key, texts in chinese(name) for text in texts if wrong.search(text)
    ] == []


def test_the_messages_of_click_are_those_that_it_has() -> None:
    source = "\n".join(path.read_text("utf-8") for path in Path(inspect.getfile(click)).parent.glob("*.py"))
    for (_context, english), _texts in chinese("click"):
        assert all(repr(text)[1:-1].split("{")[0] in source for text in english), english


def test_a_message_is_rendered_when_it_is_read() -> None:
    name = _("did you mean {near}?", near="att")
    problem = _("unknown setting {key}; {hint}", key="new", hint=name)
    assert problem["en"] == "unknown setting new; did you mean att?"
    assert problem["zh"] == "没有设置项 new；是不是 att？"
    assert UsageError(problem).line("zh") == problem["zh"] and str(UsageError(problem)) == problem["en"]


def test_texts_are_plain_empty_or_looked_up_later_and_neither_loops_nor_membership_call_for_a_language() -> None:
    assert [_("")[lang] for lang in LANGS] == ["", ""] and not _("") and _("Review")
    assert str(quoted("x")) == "x" and str(_("Review")) == "Review"
    assert (text := N_("Review")) == "Review" and _(text)["zh"] == "复习"
    for text in (quoted("ab"), _("Review")):
        with pytest.raises(TypeError):
            list(text)
        with pytest.raises(TypeError):
            assert "R" in text


def test_a_count_chooses_its_english_and_a_context_its_chinese() -> None:
    cards = [ngettext("{count} card", "{count} cards", count) for count in (0, 1, 2)]
    assert [text["en"] for text in cards] == ["0 cards", "1 card", "2 cards"]
    assert [text["zh"] for text in cards] == ["0 张卡片", "1 张卡片", "2 张卡片"]
    assert pgettext("card", "new")["zh"] != pgettext("challenge", "new")["zh"]
    assert pgettext("card", "new")["en"] == "new"
    assert pickle.loads(pickle.dumps(cards[2])) == Localised("2 cards", "2 张卡片") == cards[2]


def test_messages_are_joined_and_filled_in_both_languages() -> None:
    both = quoted("-").join([_("Review"), quoted("x")])
    assert [both[lang] for lang in LANGS] == ["Review-x", "复习-x"]
    assert Localised("a {n}", "甲 {n}").format(n=_("Review"))["zh"] == "甲 复习"
    assert isinstance(_("{count} cards"), Message)


def test_the_compiled_catalogue_is_read_as_it_was_written() -> None:
    for entry in catalogue("attn"):
        one, many = (entry.id, "") if isinstance(entry.id, str) else entry.id
        chinese = entry.string if isinstance(entry.string, str) else entry.string[0]
        if one:
            assert i18n._chinese()[Message(one, {}, entry.context or "", many)] == chinese


def test_without_a_compiled_catalogue_messages_are_english(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(i18n, "CATALOGUE", tmp_path / "attn.mo")
    i18n._chinese.cache_clear()
    try:
        assert _("Review")["zh"] == "Review"
    finally:
        i18n._chinese.cache_clear()


@pytest.mark.slow
def test_no_message_is_inside_an_f_string_or_made_from_one() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        strings = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
        inside = [call for string in strings for call in ast.walk(string) if _is_message(call)]
        made = [call for call in ast.walk(tree) if _is_message(call) and isinstance(call.args[0], ast.JoinedStr)]
        found += [f"{path.relative_to(PACKAGE)}:{call.lineno}" for call in [*inside, *made]]
    assert found == [], "Babel does not find these"


def _is_message(node: ast.AST) -> TypeGuard[ast.Call]:
    names = ("_", "N_", "ngettext", "pgettext")
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names and bool(node.args)


ROOT = Path(__file__).parents[1]
GLOSSARY_FILE = ROOT / "quizbank" / GLOSSARY
TERMS = Terms.of(load_glossary(GLOSSARY_FILE).documents)
# What the app calls its own things: ordinary words, which cards may use for others.
OWN = {
    "掌握度": "准备度|熟练度",
    "记忆保持率": "(?<!记忆)保持率",
    "搁置": "停用",
    "推迟": "今天跳过|延后",
    "常见误区": "常见错误",
    "简单": "轻松",
    "待复习": "待学",
    "已解出": "已解(?!出)|已通关",
    "已学": "学过",
    "参考解": "参考实现|标准答案|参考答案",
    "编程题": "挑战|代码题",
    "评测": "判题|打分",
    "混合专家": "专家混合",
}


def files() -> Iterator[Path]:
    yield from (path for path in sorted((ROOT / "quizbank").glob("*.yaml")) if path != GLOSSARY_FILE)
    for pattern in ("impl/*/*/challenge.yaml", "impl/*/*/inputs.py", "impl/*/*/wrong/*.py", "docs/*.md", "*.md"):
        yield from sorted(ROOT.glob(pattern))
    yield from sorted((ROOT / "attncli").rglob("*.py"))
    yield from sorted((ROOT / "attncli").rglob("*.po"))


def avoided(text: str) -> Iterator[tuple[int, str, str]]:
    """Return (line, spelling, the glossary's advice) for every spelling to avoid."""
    for _lang, pattern, instead in TERMS.patterns:
        right = {word.casefold(): term for word, term in instead.items()}
        for found in pattern.finditer(text):
            if word := found["avoid"]:
                yield text.count("\n", 0, found.start()) + 1, word, right[word.casefold()]


def test_no_file_writes_what_the_glossary_avoids() -> None:
    told = [
        f"{path.relative_to(ROOT)}:{line}: {word}; the glossary says {term}"
        for path in files()
        for line, word, term in avoided(path.read_text(encoding="utf-8"))
        if (path.suffix, word) != (".po", "热身")  # of an interview, not of a learning rate
    ]
    assert told == []


def test_a_spelling_to_avoid_is_named_with_its_line_and_its_term() -> None:
    assert list(avoided("用因果掩码。\n先掩掉未来，\n再用因果 mask。")) == [
        (2, "掩掉", "屏蔽"),
        (3, "因果 mask", "因果掩码"),
    ]
    assert list(avoided("The Tokeniser splits.")) == [(1, "Tokeniser", "tokenizer")]


def test_the_app_has_one_word_for_each_of_its_things() -> None:
    with (ROOT / "attncli/locale/zh_CN/LC_MESSAGES/attn.po").open("rb") as file:
        chinese = [str(message.string) for message in read_po(file) if message.id]
    for term, others in OWN.items():
        assert [text for text in chinese if re.search(others, text)] == []
        assert any(term in text for text in chinese), term
