"""`python -m attncli.bank PATH...`: `attn bank check` without the rest of the program.

`python -m attncli.bank schema > quizbank/schema.json` regenerates the JSON Schema.
`python -m attncli.bank read CARD... --on DATE --checked TEXT` records in the ledger that these cards were read again.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from attncli.bank.check import check, load_readings, reading, written
from attncli.bank.checked_files import Surroundings, checked_file
from attncli.bank.loader import LEDGER, bank_files
from attncli.bank.problems import visible
from attncli.bank.schema import json_schema
from attncli.errors import AttnError
from attncli.paths import bundled_impl, bundled_quizbank


def main(arguments: list[str]) -> int:
    if arguments == ["schema"]:
        print(json.dumps(json_schema(), indent=2, ensure_ascii=False))
        return 0
    if arguments[:1] == ["read"]:
        return read(arguments[1:], bundled_quizbank())
    try:
        report = check(map(Path, arguments), Surroundings(bundled_quizbank(), bundled_impl(), complete=True))
    except AttnError as error:
        print(f"attn: {visible(error.message)}", file=sys.stderr)
        return error.exit_code
    for problem in report.problems:
        print(problem)
    for note in report.notes:
        print(f"note: {note}", file=sys.stderr)
    print(f"{report.cards} cards, {len(report.problems)} problems, {len(report.notes)} notes", file=sys.stderr)
    return 1 if report.problems else 0


def read(arguments: list[str], quizbank: Path) -> int:
    """Record in the ledger that the current texts of some cards were read."""
    parser = argparse.ArgumentParser("python -m attncli.bank read")
    parser.add_argument("cards", nargs="+", metavar="CARD")
    parser.add_argument("--on", required=True, metavar="DATE")
    parser.add_argument("--checked", required=True, metavar="TEXT")
    options = parser.parse_args(arguments)
    files = [checked_file(path) for path in bank_files(quizbank)]
    known = {card["id"]: card for file in files if file.sound for _, card in file.cards}
    if missing := [card for card in options.cards if card not in known]:
        message = f"there is no card {visible(missing[0])} that can be read; correct the id or its file"
        print(f"attn: {message}", file=sys.stderr)
        return 2
    new = {card: reading(known[card], options.on, options.checked) for card in options.cards}
    text = "".join(written({**load_readings(quizbank), **new}))
    (quizbank / LEDGER).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
