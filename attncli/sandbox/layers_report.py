"""What `attn doctor` says of the sandbox: which layers are in force, and why one is missing."""

from __future__ import annotations

from typing import Any

from attncli.errors import JudgeFailed, SandboxUnavailable

from .layer_probes import LAYERS
from .policy import CUDA
from .zygote_client import ZygoteClient

WEAKER = "covers less: the GPU's driver is open to a file, host memory is watched and not limited (SECURITY.md)"


def describe(gpu: bool = False) -> dict[str, Any]:
    """For `attn doctor`: the layers in force, the reason for each missing one, and notes. Starts a zygote for it.

    Where there is a `gpu` also the layers for what runs on it, and what these leave open.
    """
    try:
        with ZygoteClient.start() as zygote:
            layers, notes = zygote.layers, zygote.notes
            on_gpu = {"gpu": _on_gpu(zygote)} if gpu else {}
    except (JudgeFailed, SandboxUnavailable) as error:
        return {"available": False, "layers": [], "missing": {}, "notes": [error.message]}
    missing = {
        name: next((note for note in notes if note.startswith(f"{name}:")), "not in force")
        for name in LAYERS
        if name not in layers
    }
    return {"available": True, "layers": list(layers), "missing": missing, "notes": notes, **on_gpu}


def _on_gpu(zygote: ZygoteClient) -> dict[str, Any]:
    """The layers behind which files run on a GPU; none where CUDA does not begin there, and why."""
    try:
        return {"layers": list(zygote.layers_under(CUDA)), "notes": [WEAKER]}
    except JudgeFailed as error:
        return {"layers": [], "notes": [error.message]}
