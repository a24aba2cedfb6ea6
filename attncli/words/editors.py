"""What is said where no editor can be opened."""

from __future__ import annotations

from attncli.domain.text import Localised

NO_EDITOR = Localised(
    "The editor “{editor}” cannot be started ({why}): set one with `attn config editor vim`.",
    "无法启动编辑器“{editor}”（{why}）：请用 `attn config editor vim` 设置。",
)
MISSING = Localised(
    "No editor was found: set one with `attn config editor vim`.",
    "找不到编辑器：请用 `attn config editor vim` 设置。",
)
