"""The tracks of challenges in reading order, from the scale of a score to an engine that serves.

A challenge's folder says its track; a learner's own may have any other name, and comes after these.
"""

from __future__ import annotations

from dataclasses import dataclass

from attncli.domain.text import Localised, quoted


@dataclass(frozen=True, slots=True)
class Track:
    """Its title, and why it stands where it stands."""

    title: Localised
    why: str


def _track(en: str, zh: str, why: str) -> Track:
    return Track(Localised(en, zh), why)


TRACKS: dict[str, Track] = {
    "attention": _track(
        "attention",
        "注意力",
        "It begins with one question, why scores are divided by √d_k, and ends with a whole attention layer.",
    ),
    "embeddings": _track("embeddings", "词嵌入", "What attention reads: how text becomes ids, and ids become vectors."),
    "positions": _track(
        "positions",
        "位置编码",
        "Attention alone does not know order; here it is added to vectors, turned into them, or put on scores.",
    ),
    "norms": _track("norms", "归一化", "What keeps the sizes of activations in hand, so that layers can be stacked."),
    "blocks": _track(
        "blocks", "模块组装", "Attention, norm and feed-forward put together: the block, and the model made of blocks."
    ),
    "cache": _track("cache", "缓存", "The model generates, and nothing that was computed is computed again."),
    "decoding": _track("decoding", "解码", "From the model's logits to a text: search, sampling, and guessing ahead."),
    "efficient": _track(
        "efficient", "高效注意力", "Longer texts: the same attention in less memory, and other attention in less work."
    ),
    "experts": _track("experts", "混合专家", "More parameters for the same work on each token."),
    "losses": _track(
        "losses", "损失函数", "What pretraining minimises, and what it costs when the vocabulary is large."
    ),
    "alignment": _track("alignment", "对齐", "From a model that continues text to one that does what is asked."),
    "optimisers": _track("optimisers", "优化器", "How gradients become steps."),
    "precision": _track("precision", "数值精度", "What 16 bits hold, and what has to stay wider."),
    "quantisation": _track("quantisation", "量化", "Eight and four bits: codes, scales, and what rounding costs."),
    "peft": _track("fine-tuning", "高效微调", "A large model made one's own by training a small part."),
    "parallel": _track("parallelism", "并行", "One model on many devices: who holds what, and what is sent."),
    "research": _track("research", "研究", "Ideas from papers, each small enough to be written and measured."),
    "serving": _track(
        "serving",
        "推理服务",
        "Everything at once: many requests, one pool of memory, and an engine that schedules them.",
    ),
}


def track_title(track: str) -> Localised:
    """What a track is called; an unknown one by its folder."""
    known = TRACKS.get(track)
    return known.title if known else quoted(track)


def reading_order(track: str) -> tuple[int, str]:
    """What tracks are sorted by: known ones as they are read, then others by name."""
    return (list(TRACKS).index(track) if track in TRACKS else len(TRACKS), track)
