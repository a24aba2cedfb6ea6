"""Which submissions are nearly the same: winnowing over tokens without names of the author's own choice.

The method is that of Schleimer, Wilkerson and Aiken, "Winnowing: local algorithms for document fingerprinting" (SIGMOD
2003), on which MOSS rests. Comments, layout, docstrings and the names of variables count for nothing; names behind a
dot (`torch.softmax`), keywords and numbers count. What the starter says, and what most of a class says, is taken out.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

METHOD = "winnowing (Schleimer, Wilkerson, Aiken 2003)"
# Whoever shares a run of GRAM + WINDOW - 1 = 11 tokens shares a fingerprint; nothing shorter than GRAM counts.
GRAM, WINDOW = 8, 4
THRESHOLD = 0.6
# Below that there is but one way to write it.
LEAST_FINGERPRINTS = 12
# What more than half of at least so many people write is what the challenge asks for.
LEAST_CLASS, COMMON_SHARE = 10, 0.5
# Python's tokenizer takes quadratic time for a line of quotes without end.
LARGEST_COMPARED, LONGEST_LINE = 64 * 1024, 500
_LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


@dataclass(frozen=True, slots=True)
class Alike:
    """People whose files for one challenge are nearly the same; `share` is that of the two least alike neighbours."""

    challenge: str
    learners: tuple[str, ...]
    share: float


def alike(challenge: str, sources: Mapping[str, bytes], known: Sequence[str]) -> list[Alike]:
    """The groups among the `sources` of a challenge, by learner; `known` are texts that everybody was given."""
    given = set().union(*(_winnowed(_tokens(text)) for text in known)) if known else set()
    prints = {learner: frozenset(_winnowed(_tokens(_text(source))) - given) for learner, source in sources.items()}
    common = _common(prints.values())
    groups: dict[frozenset[int], list[str]] = defaultdict(list)
    for learner, found in sorted(prints.items()):
        if len(found) >= LEAST_FINGERPRINTS:
            groups[found].append(learner)
    return sorted(
        (
            Alike(challenge, tuple(sorted(name for place in group for name in groups[place])), round(share, 2))
            for group, share in _joined(list(groups), common)
            if sum(len(groups[place]) for place in group) > 1
        ),
        key=lambda found: (-found.share, found.learners),
    )


def _common(prints: Collection[frozenset[int]]) -> set[int]:
    if len(prints) < LEAST_CLASS:
        return set()
    counts = Counter(mark for found in prints for mark in found)
    return {mark for mark, count in counts.items() if count > COMMON_SHARE * len(prints)}


def _joined(prints: Sequence[frozenset[int]], common: Collection[int]) -> Iterator[tuple[list[frozenset[int]], float]]:
    """Groups of fingerprints of which each is like another one of its group, with the least likeness that joins it."""
    group_of = {place: [place] for place in range(len(prints))}
    least = dict.fromkeys(group_of, 1.0)
    for share, one, other in sorted(_pairs(prints, common), reverse=True):
        first, second = group_of[one], group_of[other]
        if first is not second:
            first += second
            group_of |= dict.fromkeys(second, first)
            least[first[0]] = min(least[first[0]], least[second[0]], share)
    for place, group in group_of.items():
        if group[0] == place:
            yield [prints[member] for member in group], least[place]


def _pairs(prints: Sequence[frozenset[int]], common: Collection[int]) -> Iterator[tuple[float, int, int]]:
    """Every two that are alike: the share of the fingerprints of either that the other has."""
    own = [found - set(common) for found in prints]
    having: dict[int, list[int]] = defaultdict(list)
    for place, found in enumerate(own):
        for mark in found:
            having[mark].append(place)
    shared = Counter((one, other) for places in having.values() for one, other in _every_two(places))
    for (one, other), count in shared.items():
        share = count / len(own[one] | own[other])
        if share >= THRESHOLD and min(len(own[one]), len(own[other])) >= LEAST_FINGERPRINTS:
            yield share, one, other


def _every_two(places: Sequence[int]) -> Iterator[tuple[int, int]]:
    return ((one, other) for number, one in enumerate(places) for other in places[number + 1 :])


def _winnowed(tokens: Sequence[str]) -> set[int]:
    """The smallest hash of each window of overlapping runs of tokens; the rightmost of equal ones."""
    grams = [_hash(" ".join(tokens[start : start + GRAM])) for start in range(max(0, len(tokens) - GRAM + 1))]
    windows = (grams[start : start + WINDOW] for start in range(max(1, len(grams) - WINDOW + 1)))
    return {min(window) for window in windows if window}


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _text(source: bytes) -> str:
    lines = source[:LARGEST_COMPARED].decode("utf-8", "replace").split("\n")
    return "\n".join(line[:LONGEST_LINE] for line in lines)


def _tokens(text: str) -> list[str]:
    """The tokens of a program as far as it has any, without what its author may choose freely."""
    found: list[str] = []
    begins = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _LAYOUT:
                begins = begins or token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
                continue
            if not (begins and token.type == tokenize.STRING):
                found.append(_normal(token, found[-1] if found else ""))
                begins = False
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass
    return found


def _normal(token: tokenize.TokenInfo, before: str) -> str:
    if token.type == tokenize.STRING:
        return "S"
    if token.type != tokenize.NAME or keyword.iskeyword(token.string) or before == ".":
        return token.string
    return "V"
