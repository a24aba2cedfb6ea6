"""`attn verify --json | python tests/support/first_failures.py` writes down what each wrong file failed.

`tests/test_challenges.py` asks for that first. Files that it does not name take a little longer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parents[1] / "first_failures.json"


def table(proofs: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The table with what was proved now in place of what it said of these challenges."""
    return {**before, **{proof["id"]: proof["failed"] for proof in proofs["challenges"]}}


if __name__ == "__main__":
    known = json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    text = json.dumps(table(json.load(sys.stdin), known), indent=1, sort_keys=True)
    TABLE.write_text(f"{text}\n", encoding="utf-8")
