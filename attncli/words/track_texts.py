"""The tracks of challenges in reading order, from the scale of a score to an engine that serves.

A challenge's folder says its track; a learner's own may have any other name, and comes after these.
"""

from __future__ import annotations

from attncli.i18n import Localised, _, quoted

TRACKS: dict[str, Localised] = {
    # From one question, why scores are divided by √d_k, to a whole layer; what it reads; order, which it lacks.
    "attention": _("attention"),
    "embeddings": _("embeddings"),
    "positions": _("positions"),
    # Layers that can be stacked, the model made of them, and what it generates without computing anything again.
    "norms": _("norms"),
    "blocks": _("blocks"),
    "cache": _("cache"),
    "decoding": _("decoding"),
    # Longer texts in less memory, more parameters for the same work.
    "efficient": _("efficient"),
    "experts": _("experts"),
    # What is minimised, first over text, then over answers; how gradients become steps, in how many bits.
    "losses": _("losses"),
    "alignment": _("alignment"),
    "optimisers": _("optimisers"),
    "precision": _("precision"),
    "quantisation": _("quantisation"),
    "peft": _("fine-tuning"),
    "kernels": _("GPU kernels"),
    # Many devices, ideas from papers, and at last everything at once.
    "parallel": _("parallelism"),
    "research": _("research"),
    "serving": _("serving"),
}


def track_title(track: str) -> Localised:
    """What a track is called; an unknown one by its folder."""
    return TRACKS.get(track) or quoted(track)


def reading_order(track: str) -> tuple[int, str]:
    """What tracks are sorted by: known ones as they are read, then others by name."""
    return (list(TRACKS).index(track) if track in TRACKS else len(TRACKS), track)
