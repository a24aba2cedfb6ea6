"""Check the wording checker: reported problems, accepted texts, and no problem in the bundled bank."""

from pathlib import Path

from attncli.paths import bundled_impl, bundled_quizbank
from prose import Terms, measured_findings, problems, style_findings


def test_the_bundled_bank_and_challenges_have_no_such_fault() -> None:
    assert [str(problem) for problem in problems(bundled_quizbank(), bundled_impl())] == []


def test_cards_and_challenges_are_named_with_file_and_line(tmp_path: Path) -> None:
    quizbank, folder = tmp_path / "quizbank", tmp_path / "impl" / "attention" / "sdpa"
    quizbank.mkdir()
    folder.mkdir(parents=True)
    (quizbank / "glossary.yaml").write_text("terms:\n- {en: score, zh: 分数, avoid_en: [scores]}\n", encoding="utf-8")
    card = 'topic: att\ncards:\n- id: att-01\n  question: {en: What are scores?, zh: "先缩放,再掩码"}\n'
    (quizbank / "att.yaml").write_text(card, encoding="utf-8")
    (folder / "challenge.yaml").write_text("statement: {en: The scores., zh: 分数。}\n", encoding="utf-8")
    found = [str(problem).rpartition("/")[2] for problem in problems(quizbank, tmp_path / "impl")]
    assert found == [
        'att.yaml:4:18: "scores" is not the glossary\'s term; write "score"',
        'att.yaml:4:40: half-width , in Chinese near "先缩放,再掩码"; write ，',
        'challenge.yaml:1:17: "scores" is not the glossary\'s term; write "score"',
    ]


def zh(text: str) -> list[str]:
    return [finding.message.en for finding in style_findings({"en": "fine", "zh": text})]


def test_half_width_punctuation_between_chinese_is_named_but_not_in_code_and_latin() -> None:
    signs = ("先缩放,再掩码", ",，"), ("好吗? 好", "?？"), ("两步: 先缩放", ":："), ("说完了.", ".。"), ("甲;乙", ";；")
    for text, (sign, better) in signs:
        (found,) = zh(text)
        assert found.startswith(f"half-width {sign} in Chinese near ") and found.endswith(f"; write {better}")
    for text in (
        "先缩放，再掩码。",
        "用 `a,b` 表示",
        "见 $f(x),g$ 一式",
        "值为 1,024 个",
        "(B, T, d) 的形状",
        "a.b 是点",
    ):
        assert zh(text) == []


def test_missing_spaces_and_filler_are_named() -> None:
    assert zh("用KV缓存") == ['no space between Chinese and Latin near "用KV缓存"; add one']
    assert zh("总而言之，缩放") == ['"总而言之" adds nothing; remove it']
    filler = list(style_findings({"en": "It is important to note that", "zh": "好"}))
    assert [found.message.en for found in filler] == ['"It is important to note" adds nothing; remove it']


TERMS = Terms.of(
    [
        {"en": "attention head", "zh": "头", "avoid_zh": ["注意头"]},
        {"en": "normalisation", "zh": "归一化", "avoid_en": ["normalization"], "avoid_zh": ["归一", "规范化"]},
        {"en": "KV cache", "zh": "KV cache", "abbreviation": "KV", "avoid_en": ["key-value cache"]},
    ]
)


def terms(en: str, zh: str) -> list[str]:
    return [finding.message.en for finding in TERMS.findings({"en": en, "zh": zh})]


def test_terms_that_the_glossary_avoids_are_named_with_the_better_one() -> None:
    said = '"Normalization" is not the glossary\'s term; write "normalisation"'
    assert terms("Normalization of heads", "好") == [said]
    assert terms("fine", "规范化与注意头") == [
        '"规范化" is not the glossary\'s term; write "归一化"',
        '"注意头" is not the glossary\'s term; write "头"',
    ]
    assert terms("denormalizations", "归一化") == []
    assert terms("fine", "归一与归一化") == ['"归一" is not the glossary\'s term; write "归一化"']
    assert list(Terms.of([]).findings({"en": "normalization", "zh": "归一"})) == []


def test_a_measurement_of_our_own_has_the_experiment_that_shows_it() -> None:
    for lang, text, said in (
        ("en", "In small runs of ours it fell to 0.4.", "runs of ours"),
        ("en", "We measured 0.4 on eight seeds.", "We measured"),
        ("zh", "我们的一次小实验里降到 0.4。", "我们的一次小实验"),
        ("zh", "我们跑下来是 0.4。", "我们跑下来"),
    ):
        card = {"explain": {"en": "Yes.", "zh": "是。"} | {lang: text}}
        (found,) = measured_findings(card)
        assert found.path == ("explain", lang) and found.message.en.startswith(f'"{said}" claims our own measurement')
        assert not list(measured_findings({**card, "experiment": "mixit"}))
    text = {"en": "The paper measured 0.4; measured time falls.", "zh": "论文测得 0.4，实测时间更短。"}
    assert not list(measured_findings({"explain": text}))
