"""Write the recommended order of the challenges, generated from their folders.

`python tools/bank/reading_path.py > impl/README.md` updates it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from attncli.bank.loader import CHALLENGE, load_challenge
from attncli.domain.vocabulary import TRACKS, reading_order
from attncli.paths import bundled_impl

_HEAD = """\
# Reading path

{count} techniques of the Transformer, each to be written and graded: `attn start ID`, `attn grade ID FILE`. The order
below is one to learn in. A folder holds the statement (`challenge.yaml`), the reference as one would like it on a
whiteboard (`reference.py`), and solutions that are wrong and right in instructive ways (`wrong/`, `right/`).
[docs/challenge-format.md](../docs/challenge-format.md) says how one is written.

This page is made from the folders: `python tools/bank/reading_path.py > impl/README.md`.
"""

WHY = {
    "attention": "It begins with one question, why scores are divided by √d_k, and ends with a whole attention layer.",
    "embeddings": "What attention reads: how text becomes ids, and ids become vectors.",
    "positions": "Attention alone does not know order: it is added to vectors, turned into them, or put on scores.",
    "norms": "What keeps the sizes of activations in hand, so that layers can be stacked.",
    "blocks": "Attention, norm and feed-forward put together: the block, and the model made of blocks.",
    "cache": "The model generates, and nothing that was computed is computed again.",
    "decoding": "From the model's logits to a text: search, sampling, and guessing ahead.",
    "efficient": "Longer texts: the same attention in less memory, and other attention in less work.",
    "experts": "More parameters for the same work on each token.",
    "losses": "What pretraining minimises, and what it costs when the vocabulary is large.",
    "alignment": "From a model that continues text to one that does what is asked.",
    "optimisers": "How gradients become steps.",
    "precision": "What 16 bits hold, and what has to stay wider.",
    "quantisation": "Eight and four bits: codes, scales, and what rounding costs.",
    "peft": "A large model made one's own by training a small part.",
    "kernels": "What the GPU runs: blocks, masks, bytes that are moved once. Written in Triton, graded without a GPU.",
    "parallel": "One model on many devices: who holds what, and what is sent.",
    "research": "Ideas from papers, each small enough to be written and measured.",
    "serving": "Everything at once: many requests, one pool of memory, and an engine that schedules them.",
}


def reading_path(impl: Path) -> str:
    """Return the Markdown of every challenge below `impl`, track by track, the easiest first."""
    documents = [document for yaml in impl.glob(f"*/*/{CHALLENGE}") for document in load_challenge(yaml).documents]
    documents.sort(key=lambda found: (reading_order(found["track"]), found["level"], found["id"]))
    tracks = [_track(track, list(found)) for track, found in groupby(documents, key=lambda found: found["track"])]
    return "\n".join([_HEAD.format(count=len(documents)), *tracks])


def _track(track: str, documents: list[dict[str, Any]]) -> str:
    known = TRACKS.get(track)
    title = f"{known.en.capitalize()} · {known.zh}" if known else track
    why = [WHY[track], ""] if track in WHY else []
    return "\n".join([f"## {title}", "", *why, *_rows(documents), ""])


def _rows(documents: list[dict[str, Any]]) -> Iterator[str]:
    yield "| level | challenge | to write | what it is |"
    yield "| --- | --- | --- | --- |"
    for found in documents:
        title = f"[{found['title']['en']}]({found['track']}/{found['id']}/) {found['title']['zh']}"
        entry = ", ".join(f"`{name}`" for name in found["entry"])
        yield f"| {found['level']} | {title} | {entry} | {_idea(found['statement']['en'])} |"


def _idea(statement: str) -> str:
    """Return the first paragraph of a statement, which says in one sentence what the challenge is."""
    return " ".join(statement.strip().partition("\n\n")[0].split()).replace("|", "\\|")


if __name__ == "__main__":
    print(reading_path(bundled_impl()), end="")
