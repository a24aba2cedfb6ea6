"""Compile the Chinese catalogue when the package is built or installed from its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CATALOGUE = "attncli/locale/zh_CN/LC_MESSAGES/attn"


class CompileCatalogue(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write `attn.mo` beside `attn.po`, and add it to what is built."""
        source = Path(self.root, f"{CATALOGUE}.po")
        with source.open("rb") as po, source.with_suffix(".mo").open("wb") as mo:
            write_mo(mo, read_po(po))
        build_data["artifacts"].append(f"{CATALOGUE}.mo")
