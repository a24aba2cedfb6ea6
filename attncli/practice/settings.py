"""Reading and changing settings while something is open: what is kept, and what is in force already."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from attncli.config import SCHEDULING_KEYS, Settings, load, save
from attncli.practice.workspace import Workspace


def kept_settings(workspace: Workspace) -> Settings:
    """What `config.toml` says; the language is the one that is shown. Raises ConfigInvalid, EnvironmentFailure."""
    return replace(load(workspace.home.config, {}), lang=workspace.lang)


def change_setting(workspace: Workspace, key: str, text: str) -> bool:
    """Keeps the setting; whether it is in force already: what all schedules follow from waits for the next start.

    Raises ConfigInvalid for a value that does not fit, EnvironmentFailure where it cannot be written; then nothing has
    changed.
    """
    save(workspace.home.config, key, text, date.fromordinal(workspace.moment().day))
    if key in SCHEDULING_KEYS:
        return False
    workspace.adopt(replace(workspace.settings, **{key: getattr(load(workspace.home.config, {}), key)}))
    return True
