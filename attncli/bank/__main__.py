"""`python -m attncli.bank PATH...`: `attn bank check` without the rest of the program.

`python -m attncli.bank schema > quizbank/schema.json` regenerates the JSON Schema.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from attncli.bank.check import check
from attncli.bank.checked_files import Surroundings
from attncli.bank.schema import json_schema
from attncli.errors import AttnError
from attncli.paths import bundled_impl, bundled_quizbank


def main(arguments: list[str]) -> int:
    if arguments == ["schema"]:
        print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
        return 0
    try:
        report = check(map(Path, arguments), Surroundings(bundled_quizbank(), bundled_impl(), complete=True))
    except AttnError as error:
        print(f"attn: {error}", file=sys.stderr)
        return error.exit_code
    for problem in report.problems:
        print(problem)
    for note in report.notes:
        print(f"note: {note}", file=sys.stderr)
    print(f"{report.cards} cards, {len(report.problems)} problems, {len(report.notes)} notes", file=sys.stderr)
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
