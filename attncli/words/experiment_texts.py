"""What `attn experiment` prints around what the experiments say themselves."""

from __future__ import annotations
