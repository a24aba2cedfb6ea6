"""`python -m attncli.judge`: the judge's process."""

from attncli.judge.server import main

if __name__ == "__main__":
    raise SystemExit(main())
