"""A bank and challenges that suffice for an interview: spoken cards with follow-ups, marked cards, code."""

from pathlib import Path

_CARD = """\
  - id: {topic}-{n:02}
    kind: qa
    level: {level}
    question: {{en: "Question {topic} {n}?", zh: "问题 {topic} {n}？"}}
    short: {{en: "Short {topic} {n}.", zh: "简答 {topic} {n}。"}}
    explain: {{en: Long., zh: 详解。}}
    points: [{{en: one, zh: 其一}}, {{en: two, zh: 其二}}, {{en: three, zh: 其三}}]
"""
_FOLLOW_UPS = """\
    follow_ups:
      - ask: {{en: "Why {n}?", zh: "为什么 {n}？"}}
        answer: {{en: "So {n}.", zh: "因此 {n}。"}}
        card: {topic}-{after:02}
      - {{ask: {{en: "What breaks {n}?", zh: "什么会坏 {n}？"}}, answer: {{en: "All of {n}.", zh: "全部 {n}。"}}}}
      - {{ask: {{en: "Prove {n}.", zh: "请证明 {n}。"}}, answer: {{en: "By measuring {n}.", zh: "测量 {n}。"}}}}
"""
_CHOICE = """\
  - id: {topic}-{n:02}
    kind: choice
    level: screen
    question: {{en: "Which one, {topic} {n}?", zh: "哪一个，{topic} {n}？"}}
    options:
      - {{text: {{en: this, zh: 这个}}, correct: true}}
      - {{text: {{en: that, zh: 那个}}, why_not: {{en: No., zh: 不对。}}}}
      - {{text: {{en: both, zh: 两个都是}}, why_not: {{en: Never., zh: 绝不。}}}}
    explain: {{en: So it is., zh: 就是这样。}}
"""
TOPICS = ("att", "kv", "moe", "norm")


def write_bank(folder: Path, marked: int = 2) -> Path:
    """Write four topics; each has a spoken card of every level, two of them with follow-ups, and `marked` ones."""
    folder.mkdir()
    for topic in TOPICS:
        cards = [_CARD.format(topic=topic, n=1, level="screen")]
        for n, level in ((2, "onsite"), (3, "research")):
            cards.append(
                _CARD.format(topic=topic, n=n, level=level) + _FOLLOW_UPS.format(topic=topic, n=n, after=n - 1)
            )
        cards += [_CHOICE.format(topic=topic, n=n) for n in range(4, 4 + marked)]
        head = f"topic: {topic}\nlicence: CC-BY-4.0\ntitle: {{en: Topic {topic}, zh: 主题 {topic}}}\ncards:\n"
        (folder / f"{topic}.yaml").write_text(head + "".join(cards), encoding="utf-8")
    return folder


_CHALLENGE = """\
level: {level}
title: {{en: "Doubling {level}", zh: "加倍 {level}"}}
entry: [double]
statement: {{en: "Return twice the input.", zh: "返回输入的两倍。"}}
hints: [{{en: Add., zh: 相加。}}, {{en: To itself., zh: 与自身。}}, {{en: "x + x", zh: "x + x"}}]
cards: [att-02]
required: [loads, matches-reference]
"""
_REFERENCE = '''\
"""Twice."""


def double(x):
    """Doubles."""
    first = x
    other = x
    total = first + other
    return total
'''
_WRONG = '''\
"""Times {says} instead.
改成了乘 {says}。

symptom: Right for 0 only.
症状：只有 0 对。

cards: att-02
rung: {rung}
"""


def double(x):
    return x * {says}
'''


def write_impl(folder: Path) -> Path:
    """Write two tracks with three challenges each, of levels one to three, each with mistakes of both rungs."""
    for track in ("attention", "cache"):
        for level in (1, 2, 3):
            place = folder / track / f"{track}-{level}"
            (place / "wrong").mkdir(parents=True)
            (place / "challenge.yaml").write_text(_CHALLENGE.format(level=level), encoding="utf-8")
            (place / "reference.py").write_text(_REFERENCE, encoding="utf-8")
            for says, rung in (("3", "solved"), ("4", "solved"), ("5", "hardened")):
                (place / "wrong" / f"by-{says}.py").write_text(_WRONG.format(says=says, rung=rung), encoding="utf-8")
    return folder


_REPAIRS = """\
repairs:
  - {wrong: by-3, find: "first = x", replace: "first = 2 * x"}
  - {wrong: by-4, find: "other = x", replace: "other = 3 * x"}
  - {wrong: by-6, find: "total = first + other", replace: "total = first - other"}
  - {wrong: by-7, find: "return total", replace: "return total + total"}
"""


def offer_rounds(folder: Path) -> None:
    """Add repair rounds to every challenge below `folder`."""
    for place in folder.glob("*/*"):
        for says in ("6", "7"):
            told = _WRONG.format(says=says, rung="solved")
            (place / "wrong" / f"by-{says}.py").write_text(told, encoding="utf-8")
        (place / "repairs.yaml").write_text(_REPAIRS, encoding="utf-8")
