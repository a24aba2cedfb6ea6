"""Check the rules about prose: lengths, formulas, code and invisible characters."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from attncli.bank.prose_rules import chinese_units, english_words, fault_of, formula_findings, hidden_findings, parts_of
from attncli.i18n import Localised

from .conftest import Cards, Checker, Errors, only


def test_how_lengths_are_counted() -> None:
    assert english_words("p_i(δ_ij − p_j) is 1/2 of it.") == 6
    assert chinese_units("方差是 d_k，约 1.5 倍的 KV cache。") == 10
    assert chinese_units("") == 0


LATIN = "(a Latin word or number counts as one)"


def test_the_short_answer_has_a_length(cards: Cards, errors: Errors) -> None:
    for lang, word, count, message in (
        ("en", "word ", 49, "the short answer has 49 words; it needs 50 to 120; say more"),
        ("en", "word ", 121, "the short answer has 121 words; it needs 50 to 120; move details to the explain field"),
        ("zh", "字", 99, f"the short answer has 99 characters {LATIN}; it needs 100"),
        ("zh", "字", 261, f"the short answer has 261 characters {LATIN}; it needs 100"),
    ):
        only(errors(cards["qa"] | {"short": cards["qa"]["short"] | {lang: word * count}}), message)
    for count in (50, 120):
        assert errors(cards["qa"] | {"short": cards["qa"]["short"] | {"en": "word " * count}}) == []


def test_the_lead_has_a_length(cards: Cards, errors: Errors) -> None:
    card = cards["qa"] | {"formula": r"\frac{1}{\sqrt{d_k}}", "must_know": True, "short": lengths(40, 80)}
    for words, characters, message in (
        (44, 80, "the lead has 44 words; it needs 45 to 70; say more"),
        (71, 140, "the lead has 71 words; it needs 45 to 70; move details to the explain field"),
        (45, 79, f"the lead has 79 characters {LATIN}; it needs 80 to 140; say more"),
        (70, 141, f"the lead has 141 characters {LATIN}; it needs 80 to 140; move"),
    ):
        only(errors(card | {"lead": lengths(words, characters)}), message)
    assert errors(card | {"lead": lengths(45, 80)}) == errors(card | {"lead": lengths(70, 140)}) == []


def lengths(words: int, characters: int) -> dict[str, str]:
    return {"en": "word " * words, "zh": "字" * characters}


def test_the_lead_counts_as_part_of_the_short_answer(cards: Cards, errors: Errors) -> None:
    both = {"lead": lengths(50, 80), "short": lengths(71, 80)}
    only(errors(cards["qa"] | both), "the short answer has 121 words")


def test_a_formula_that_cannot_be_shown_is_reported(cards: Cards, errors: Errors) -> None:
    only(errors(cards["qa"] | {"formula": r"\frac{1}{d"}), 'formula "')
    assert errors(cards["qa"] | {"must_know": "yes"})[0].startswith('"must_know" must be true or false')


def test_a_fix_is_code(cards: Cards, errors: Errors) -> None:
    cards["debug"]["fix"] = {"en": "y = 2   # not 1", "zh": "`y = 2`，不是 1"}
    assert errors(cards["debug"]) == ["a fix is shown as code; remove the backticks and write prose as a comment"]


def test_common_formulas_can_be_shown() -> None:
    for formula in (
        r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
        r"\sum_{i=1}^{N} f_i P_i",
        r"\hat m_t/(\sqrt{\hat v_t}+\epsilon)",
        r"D_{KL}(\pi_\theta\,\|\,\pi_{ref})",
        r"10000^{-2i/d}",
        r"\mathbb R^{n\times d}",
        r"\begin{pmatrix}\cos\theta & -\sin\theta\\ \sin\theta & \cos\theta\end{pmatrix}",
        r"\operatorname{softmax}(x)",
        r"2 \cdot {{layers}}",
        r"p \approx 0.5?",
    ):
        assert fault_of(formula) is None, formula


def test_what_cannot_be_shown_says_why() -> None:
    for formula, fault in {
        r"\underbrace{x}": r"uses a command the terminal cannot draw (\underbrace); use a common one",
        r"\nonsense x": r"uses a command the terminal cannot draw (\nonsense); use a common one",
        r"\frac{a}": "is not valid LaTeX (",
        r"a_b_c": "is not valid LaTeX (",
        r"x^{2": "is not valid LaTeX (",
        r"\left( a": "is not valid LaTeX (",
        r"\qqq": "cannot be drawn",
        "{}": "is drawn as nothing; write a formula",
        r"\text{<b></b>}": "contains the tag <b>; write < and > as words or outside \\text",
        r"\text{<b>}": "cannot be written as MathML (a bare & or <); ",
        "x" * 2001: "is longer than 2000 characters; split it",
        "{" * 1900: "; ",
    }.items():
        found = str(fault_of(formula))
        assert fault in found or ("cannot be drawn" in fault and "cannot draw" in found), found
        assert "; " in found


@given(st.text(alphabet=r"\{}^_&ab1 $frac()[]<>?sqrt", max_size=40))
def test_any_formula_gives_an_answer(formula: str) -> None:
    assert fault_of(formula) is None or isinstance(fault_of(formula), Localised)


def messages(text: str) -> list[str]:
    return [finding.message.en for finding in formula_findings({"en": text, "zh": "好"})]


def test_a_dollar_sign_outside_formulas_and_code_is_escaped() -> None:
    code = "A `$` in code and\n```\n$x$ $\n```\n"
    for text in (r"It costs \$5 and \$6.", code, "$a$ and $$b$$", "$$\na\n\\cdot b\n$$", "($x$), $y$。"):
        assert messages(text) == []
    for text in ("$a", "a$ b", "costs $5 and 6", "$$a", "$a$ and $", "$ a $", "$a\nb$"):
        found = messages(text)
        assert found and all("write \\$ for a dollar sign" in message for message in found)
    (message,) = messages("abcdefghijklmnopq costs $5 and then some more of it")
    assert message.startswith('unpaired $ near "mnopq costs $5 and then some mor"; close')
    (finding,) = formula_findings({"points": [{"en": "fine", "zh": r"$\frac{1}$"}]})
    assert finding.path == ("points", 0, "zh")


def test_parts_of_a_text() -> None:
    parts = parts_of("a $b$ c `$d$` e\n$$f$$\n~~~\n$g$\n~~~\n\\$h")
    assert parts.formulas == ("b", "f")
    assert parts.prose.split() == ["a", "c", "e", "dollarh"]
    assert parts_of("plain") == parts_of("plain")
    assert parts_of("plain").prose == "plain"


def test_a_text_a_list_and_a_key_are_looked_into_and_many_are_counted() -> None:
    found = list(hidden_findings({"a": ["ok", "x\u200b"], "b\u202e": {"en": "\x07", "zh": "中文，⚠\ufe0f"}}))
    assert [(finding.path, finding.at_key) for finding in found] == [
        (("a", 1), False),
        (("b\u202e",), True),
        (("b\u202e", "en"), False),
    ]
    (finding,) = hidden_findings("\u200b\u200c\u200d\u200e\u200f")
    assert finding.message.en == (
        "hidden characters U+200B (zero width space), U+200C (zero width non-joiner), U+200D (zero width joiner) "
        "and 2 more; remove them"
    )


def test_a_hidden_character_is_reported_with_its_line(cards: Cards, checked: Checker) -> None:
    cards["qa"]["points"][1]["zh"] = "二\u2066"
    (problem,) = checked(cards["qa"]).problems
    assert problem.message.en == "hidden character U+2066 (left-to-right isolate); remove it"
    assert "\u2066" in Path(problem.file).read_text(encoding="utf-8").splitlines()[problem.line - 1]
