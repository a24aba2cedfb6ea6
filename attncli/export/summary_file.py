"""The interview summary as a file beside the learner's data: one page a day and language."""

from __future__ import annotations

from pathlib import Path

from attncli.export.gather_summary import day_ahead, summarise
from attncli.export.render import to_html
from attncli.files import put_text
from attncli.practice.plan import local_date
from attncli.practice.workspace import Workspace


def write_summary(workspace: Workspace) -> Path:
    """The page in the workspace's language, and where it is; one of the same day gives way to it.

    Raises UsageError where it cannot be written, EnvironmentFailure without room.
    """
    page = to_html(summarise(workspace, workspace.lang, day_ahead(workspace)))
    file = workspace.home.summaries / f"{local_date(workspace)}-{workspace.lang}.html"
    put_text(file, page, "write it elsewhere with `attn export summary -o FILE`")
    return file
