"""Every text of the app itself, in English and Chinese: one table, so that a test can prove both complete.

Card texts come from the bank; only what the app says by itself stands here: of a review in `app_review_texts`, of
challenges in `app_challenge_texts`, of drills and quizzes in `app_choosing_texts`, of mock interviews in
`app_mock_texts`, everything else below.
`say("home.streak", lang, days=3)`.
"""

from __future__ import annotations

from attncli.i18n import Lang, Localised, _
from attncli.words import (
    app_challenge_texts,
    app_choosing_texts,
    app_mock_texts,
    app_review_texts,
    browse_texts,
    editor_texts,
    first_run_texts,
    home_texts,
    own_case_texts,
    refused_input_texts,
    settings_texts,
    stats_texts,
    summary_file_texts,
)

TEXTS: dict[str, Localised] = {
    "app.problems": _(
        "{count} problems in bank files; the rest is used. First: {first}. `attn bank check` lists them."
    ),
    "app.problems-one": _("{count} problem in the bank files; the rest is used: {first}. `attn bank check` says more."),
    "home.challenges": _("{count} challenges due"),
    "home.challenges-one": _("{count} challenge due"),
    "home.column-topic": _("Topic"),
    "home.column-due": _("due"),
    "home.column-cards": _("cards"),
    "home.column-ready": _("ready"),
    "fault.gone": _("{card} is no longer in its bank; skipped."),
    "fault.outdated": _("Not saved: the intervals have changed. Rate it again."),
    "search.found": _("{count} cards"),
    "search.found-one": _("{count} card"),
    "palette.review": _("Start a review of all topics"),
    "palette.home": _("Go to Home"),
    "palette.challenges": _("List the challenges"),
    "palette.stats": _("Show statistics"),
    "palette.plan": _("Show the plan for the interview"),
    "palette.search": _("Search the cards"),
    **app_review_texts.TEXTS,
    **app_choosing_texts.TEXTS,
    **app_mock_texts.TEXTS,
    **app_challenge_texts.TEXTS,
    **browse_texts.TEXTS,
    **editor_texts.TEXTS,
    **first_run_texts.TEXTS,
    **home_texts.TEXTS,
    **own_case_texts.TEXTS,
    **settings_texts.TEXTS,
    **stats_texts.TEXTS,
    **summary_file_texts.TEXTS,
    **refused_input_texts.TEXTS,
}


def say(key: str, lang: Lang, **values: object) -> str:
    """The text with its placeholders filled in. Raises KeyError for a key that is not in the table."""
    return TEXTS[key][lang].format(**values)


def say_counted(key: str, lang: Lang, count: int, **values: object) -> str:
    """`say` of something that is counted: the text `key-one` speaks of one."""
    return say(f"{key}-one" if count == 1 else key, lang, count=count, **values)
