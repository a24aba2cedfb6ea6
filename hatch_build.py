"""Compile the Chinese catalogues when the package is built or installed from its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LOCALE = "attncli/locale"


def compile_catalogues(root: Path) -> None:
    """Write a `.mo` beside each `.po`."""
    for source in (root / LOCALE).rglob("*.po"):
        with source.open("rb") as po, source.with_suffix(".mo").open("wb") as mo:
            write_mo(mo, read_po(po))


class CompileCatalogues(BuildHookInterface[Any]):
    """The build hook that pyproject.toml names."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the catalogues and add them to what is built."""
        compile_catalogues(Path(self.root))
        build_data["artifacts"].append(f"{LOCALE}/**/*.mo")
