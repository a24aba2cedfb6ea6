"""The tracks of challenges in reading order, from the scale of a score to an engine that serves.

A challenge's folder says its track; a learner's own may have any other name, and comes after these.
"""

from __future__ import annotations

from attncli.domain.text import Localised, quoted
from attncli.domain.text import Localised as _T

TRACKS: dict[str, Localised] = {
    # From one question, why scores are divided by √d_k, to a whole layer; what it reads; order, which it lacks.
    "attention": _T("attention", "注意力"),
    "embeddings": _T("embeddings", "词嵌入"),
    "positions": _T("positions", "位置编码"),
    # Layers that can be stacked, the model made of them, and what it generates without computing anything again.
    "norms": _T("norms", "归一化"),
    "blocks": _T("blocks", "模块组装"),
    "cache": _T("cache", "缓存"),
    "decoding": _T("decoding", "解码"),
    # Longer texts in less memory, more parameters for the same work.
    "efficient": _T("efficient", "高效注意力"),
    "experts": _T("experts", "混合专家"),
    # What is minimised, first over text, then over answers; how gradients become steps, in how many bits.
    "losses": _T("losses", "损失函数"),
    "alignment": _T("alignment", "对齐"),
    "optimisers": _T("optimisers", "优化器"),
    "precision": _T("precision", "数值精度"),
    "quantisation": _T("quantisation", "量化"),
    "peft": _T("fine-tuning", "高效微调"),
    "kernels": _T("GPU kernels", "GPU kernel"),
    # Many devices, ideas from papers, and at last everything at once.
    "parallel": _T("parallelism", "并行"),
    "research": _T("research", "研究"),
    "serving": _T("serving", "推理服务"),
}


def track_title(track: str) -> Localised:
    """What a track is called; an unknown one by its folder."""
    return TRACKS.get(track) or quoted(track)


def reading_order(track: str) -> tuple[int, str]:
    """What tracks are sorted by: known ones as they are read, then others by name."""
    return (list(TRACKS).index(track) if track in TRACKS else len(TRACKS), track)
