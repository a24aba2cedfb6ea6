"""As much of the protocol buffers wire format as an Anki collection needs: numbers and byte strings of one message."""

from __future__ import annotations

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


def fields_of(message: bytes) -> dict[int, int | bytes]:
    """Field number → its last value; fixed-width numbers are passed over. Raises ValueError for what is no message."""
    found: dict[int, int | bytes] = {}
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            found[number], at = _varint(message, at)
            continue
        if kind == _BYTES:
            length, at = _varint(message, at)
        elif kind in (_FIXED_64, _FIXED_32):
            length = 8 if kind == _FIXED_64 else 4
        else:
            raise ValueError("a message of an unknown kind")
        if at + length > len(message):
            raise ValueError("a message that ends too early")
        if kind == _BYTES:
            found[number] = message[at : at + length]
        at += length
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(_LONGEST_VARINT):
        if at + place >= len(message):
            break
        byte = message[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("a message that ends too early")
