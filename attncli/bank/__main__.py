"""`python -m attncli.bank PATH...`: the problems of bank files, without the rest of the program."""

from __future__ import annotations

import sys
from pathlib import Path

from attncli.bank.loader import NOT_CARDS, load_file


def main(arguments: list[str]) -> int:
    problems = 0
    for argument in arguments:
        path = Path(argument)
        for file in sorted(path.glob("*.yaml")) if path.is_dir() else [path]:
            if file.name in NOT_CARDS:
                continue
            loaded = load_file(file)
            problems += len(loaded.problems)
            for problem in loaded.problems:
                print(problem)
    print(f"{problems} problems", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
