"""`python -m attncli` is `attn`."""

from __future__ import annotations

import sys

from attncli.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
