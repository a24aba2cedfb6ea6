from hypothesis import given
from hypothesis import strategies as st

from attncli.bank.prose_rules import fault_of, formula_findings, parts_of
from attncli.i18n import Localised


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


def test_the_place_is_the_language_of_the_text() -> None:
    card = {"points": [{"en": "fine", "zh": r"$\frac{1}$"}]}
    (finding,) = formula_findings(card)
    assert finding.path == ("points", 0, "zh")


def test_parts_of_a_text() -> None:
    parts = parts_of("a $b$ c `$d$` e\n$$f$$\n~~~\n$g$\n~~~\n\\$h")
    assert parts.formulas == ("b", "f")
    assert parts.prose.split() == ["a", "c", "e", "dollarh"]
    assert parts_of("plain") == parts_of("plain")
    assert parts_of("plain").prose == "plain"
