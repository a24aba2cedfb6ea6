"""Use one term for one thing: no card, challenge, wrong solution or page uses a term that the glossary avoids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from babel.messages.pofile import read_po

from attncli.bank.loader import GLOSSARY, load_glossary
from prose import Terms

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
    for _, pattern, instead in TERMS.patterns:
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
