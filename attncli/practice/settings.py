"""Reading and changing settings while something is open: what is kept, and what is in force already."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import date

from attncli.config import PER_TOPIC, SCHEDULING_KEYS, Settings, load, save, topic_in
from attncli.errors import StoreBusy, StoreUnwritable
from attncli.practice.workspace import Workspace

AS_TYPED = ("editor",)
"""Of all others the full-width digits of a Chinese input method mean the same as their twins."""


def kept_settings(workspace: Workspace) -> Settings:
    """What `config.toml` says; the language is the one that is shown. Raises ConfigInvalid, EnvironmentFailure."""
    return replace(load(workspace.home.config, {}), lang=workspace.lang)


def with_topics_named(workspace: Workspace, key: str, text: str = "") -> tuple[str, str]:
    """`key` and `text` with each topic in them as it is called. Raises NotFound for a wrong one, with a guess."""
    if topic := topic_in(key):
        return f"{PER_TOPIC}.{workspace.library.topic(topic).id}", text
    if key != PER_TOPIC or not all("=" in pair for pair in text.split()):
        return key, text
    pairs = [pair.partition("=") for pair in text.split()]
    return key, " ".join(f"{workspace.library.topic(topic).id}{equals}{number}" for topic, equals, number in pairs)


def change_setting(workspace: Workspace, key: str, text: str) -> bool:
    """Keeps the setting; whether it is in force already: what all schedules follow from waits for the next start.

    Raises ConfigInvalid for a value that does not fit, EnvironmentFailure where it cannot be written; then nothing has
    changed.
    """
    today = date.fromordinal(workspace.moment().day)
    if key not in AS_TYPED:
        text = unicodedata.normalize("NFKC", text)
    save(workspace.home.config, *with_topics_named(workspace, key, text), today)
    if key in SCHEDULING_KEYS or topic_in(key):
        return False
    workspace.adopt(replace(workspace.settings, **{key: getattr(load(workspace.home.config, {}), key)}))
    try:
        workspace.order_new_cards()
    except (StoreBusy, StoreUnwritable):
        return False
    return True
