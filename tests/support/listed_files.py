"""`python tests/support/listed_files.py` writes README's list of files anew, from their docstrings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
LIST = re.compile(r"(?<=<!-- files -->\n).*(?=<!-- /files -->)", re.DOTALL)


def first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def listed() -> Iterator[str]:
    """The files of every folder of attncli, below what the folder says of itself."""
    for room in sorted(
        path.parent for path in (ROOT / "attncli").rglob("__init__.py") if "_data" not in path.relative_to(ROOT).parts
    ):
        yield f"**`{room.relative_to(ROOT).as_posix()}/`** {first_line(room / '__init__.py')}\n\n"
        files = [path for path in sorted(room.glob("*.py")) if path.name != "__init__.py"]
        yield "".join(f"- `{path.name}` {first_line(path)}\n" for path in files) + "\n"


if __name__ == "__main__":
    text = "\n" + "".join(listed())
    README.write_text(LIST.sub(lambda _: text, README.read_text(encoding="utf-8")), encoding="utf-8")
