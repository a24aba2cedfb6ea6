"""What `attn doctor` says of the sandbox: which layers are in force, and why one is missing."""

from __future__ import annotations

from typing import Any

from ..errors import JudgeFailed, SandboxUnavailable
from .layer_probes import LAYERS
from .zygote_client import ZygoteClient


def describe() -> dict[str, Any]:
    """For `attn doctor`: the layers in force, the reason for each missing one, and notes. Starts a zygote for it."""
    try:
        with ZygoteClient.start() as zygote:
            layers, notes = zygote.layers, zygote.notes
    except (JudgeFailed, SandboxUnavailable) as error:
        return {"available": False, "layers": [], "missing": {}, "notes": [error.message]}
    missing = {
        name: next((note for note in notes if note.startswith(f"{name}:")), "not in force")
        for name in LAYERS
        if name not in layers
    }
    return {"available": True, "layers": list(layers), "missing": missing, "notes": notes}
