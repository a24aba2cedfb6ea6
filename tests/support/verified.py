"""Keep the record of the challenges that `attn verify` proved, and in `impl/rejected_by.json` the check that each wrong
file failed.

`attn verify --streams 5 --json | python tests/support/verified.py` writes it; `make test-all` does so. If the
fingerprint matches, only a sample of the wrong files is proved again, since neither they nor the judge have changed.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tokenize
from functools import cache
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
RECORD, REJECTED_BY = ROOT / "tests" / "verified.json", ROOT / "impl" / "rejected_by.json"
SAMPLE = 4
PROSE = frozenset({"title", "statement", "hints", "follow_ups", "sources", "must_know", "cards"})


def record() -> dict[str, str]:
    """Return the fingerprint of each proved challenge."""
    read: dict[str, str] = json.loads(RECORD.read_text(encoding="utf-8"))
    return read


def failed(id: str) -> dict[str, list[str]]:
    """Return the check and rung that each wrong file of a challenge failed when it was last proved."""
    found: dict[str, list[str]] = json.loads(REJECTED_BY.read_text(encoding="utf-8")).get(id, {})
    return found


def fingerprint(folder: Path) -> str:
    """Hash all that decides the verdicts on a challenge: its files, the judge, the sandbox and the pinned torch.

    Prose is left out: docstrings and comments of the judge and the reference, messages, statements and hints.
    """
    digest = sha256(_judge().encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        if path.name == "tests.py":
            continue
        content = path.read_bytes()
        if path.name == "challenge.yaml":
            content = _rules(path)
        elif path.name in ("reference.py", "inputs.py", "kernel.py"):
            content = code(content.decode()).encode()
        digest.update(f"{path.relative_to(folder)}\0".encode() + content + b"\0")
    return digest.hexdigest()[:32]


def _rules(path: Path) -> bytes:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    return json.dumps({key: value for key, value in document.items() if key not in PROSE}).encode()


def code(source: str) -> str:
    """Return Python code as one line a statement, indented; without docstrings, comments, blanks and last commas."""
    lines, said = source.splitlines(), set[int]()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            texts = (each for each in node.body if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
            said.update(line for text in texts for line in range(text.lineno, text.end_lineno + 1))
    statements, first = list[str](), None
    for token in tokenize.generate_tokens(StringIO(source).readline):
        line, column = token.start
        if token.type == tokenize.COMMENT:
            lines[line - 1] = lines[line - 1][:column]
    for token in tokenize.generate_tokens(StringIO("\n".join(lines) + "\n").readline):
        if token.type in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if first is None:
            first = token.start
        if token.type == tokenize.NEWLINE:
            whole = "".join(lines[first[0] - 1 : token.start[0]])
            if first[0] not in said:
                statements.append(" " * first[1] + re.sub(r",(?=[)\]}])", "", "".join(whole.split())))
            first = None
    return "\n".join(statements)


@cache
def _judge() -> str:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    digest = sha256("\n".join(line for line in pins if line.startswith("torch==")).encode())
    for room in ("judge", "sandbox"):
        for path in sorted((ROOT / "attncli" / room).rglob("*.py")):
            if path.name != "messages.py":
                digest.update(f"{room}/{path.name}\0{code(path.read_text(encoding='utf-8'))}\0".encode())
    return digest.hexdigest()


def to_prove(folder: Path) -> list[str]:
    """Return the wrong files to prove: a sample by fingerprint, or an empty list (all) if it does not match."""
    now = fingerprint(folder)
    if record().get(folder.name) != now:
        return []
    names = [path.stem for path in folder.glob("wrong/*.py")]
    return sorted(names, key=lambda name: sha256(f"{now} {name}".encode()).digest())[:SAMPLE]


def main() -> None:
    """Write both records from the JSON of `attn verify` on standard input; exit 1 if a challenge does not hold.

    Challenges that were not proved keep their entries.
    """
    proofs = json.load(sys.stdin)
    folders = {path.parent.name: path.parent for path in ROOT.glob("impl/*/*/challenge.yaml")}
    proved = [proof for proof in proofs["challenges"] if proof["holds"]]
    _write(RECORD, {proof["id"]: fingerprint(folders[proof["id"]]) for proof in proved})
    _write(REJECTED_BY, {proof["id"]: proof["failed"] for proof in proved})
    unproved = [proof["id"] for proof in proofs["challenges"] if not proof["holds"]]
    sys.exit(f"not proved: {', '.join(unproved)}" if unproved else 0)


def _write(path: Path, entries: dict[str, Any]) -> None:
    whole = json.loads(path.read_text(encoding="utf-8")) | entries
    lines = [f"{json.dumps(id)}: {json.dumps(entry, sort_keys=True)}" for id, entry in sorted(whole.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
