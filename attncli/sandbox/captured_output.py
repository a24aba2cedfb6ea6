"""What a submission prints: bounded, and cleaned of everything that could drive a terminal."""

from __future__ import annotations

import re

LIMIT_BYTES = 1 << 20
KEPT_BYTES = 64 << 10
_HEAD_BYTES = 48 << 10

_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|\x9c|$)"  # OSC and other strings
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def clean(text: str) -> str:
    """The text without control sequences, control characters and direction overrides; newlines and tabs stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("", _SEQUENCES.sub("", text))


class Printed:
    """Collects output: the beginning and the end are kept, the middle is counted."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = _HEAD_BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: -(KEPT_BYTES - _HEAD_BYTES)]

    @property
    def too_much(self) -> bool:
        return self.total > LIMIT_BYTES

    def text(self) -> str:
        """What was printed, cleaned, at most KEPT_BYTES of it."""
        left_out = self.total - len(self._head) - len(self._tail)
        gap = f"\n… {left_out} bytes left out …\n".encode() if left_out else b""
        return clean((bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace"))


def split_fatal_error(text: str, filename: str) -> tuple[str, str]:
    """The text without the interpreter's own report of a crash, and where that says it was in the learner's file."""
    before, mark, report = text.rpartition("Fatal Python error: ")
    if not mark:
        return text, ""
    place = re.search(rf'File "{re.escape(filename)}", line (\d+) in (\S+)', report)
    return before, f"in line {place[1]} ({place[2]})" if place else ""
