"""The memory that one launch of a kernel may touch, element by element, and which program has touched it.

Tensors are laid into one arena, far from each other, so that an address belongs to one of them or to none. Programs
run in no order on a GPU: what one has written no other may read or write, and what one has read no other may write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

# Between two tensors; so far beyond its end an access is still seen to miss.
GAP_BYTES = 1 << 16
ALIGNMENT = 64
NOBODY, SEVERAL, ATOMIC = -1, -2, -3
NOTHING = torch.empty(0)


class KernelFault(Exception):
    """An access that a GPU would not have refused: `fault` says which, of what, by which program."""

    def __init__(self, kind: str, name: str, index: int, count: int, programs: Sequence[int]) -> None:
        super().__init__(f"{kind} {name}[{index}] by program {list(programs)}")
        self.fault = {"kind": kind, "tensor": name, "index": index, "count": count, "programs": list(programs)}


@dataclass(slots=True)
class Region:
    """One storage in the arena; `tensors` are the arguments that lie in it, by name."""

    storage: torch.UntypedStorage
    base: int
    size: int
    bytes: Tensor
    tensors: dict[str, Tensor] = field(default_factory=dict)
    elements: Tensor = NOTHING
    writer: Tensor = NOTHING
    reader: Tensor = NOTHING
    written: bool = False

    def note_elements(self) -> None:
        """Where elements of the arguments begin: a view leaves gaps that are nobody's."""
        begins = torch.zeros(self.size, dtype=torch.bool)
        for tensor in self.tensors.values():
            step, start = tensor.element_size(), tensor.storage_offset() * tensor.element_size()
            begins.as_strided(tensor.shape, [step * stride for stride in tensor.stride()], start).fill_(True)
        self.elements = begins
        self.writer = torch.full((self.size,), NOBODY)
        self.reader = torch.full((self.size,), NOBODY)

    def place_of(self, offset: int) -> tuple[str, int, int]:
        """The argument that an offset in bytes is nearest to, the element in its memory, and how many it has."""

        def distance(tensor: Tensor) -> int:
            first = tensor.storage_offset() * tensor.element_size()
            last = first + _span(tensor) * tensor.element_size()
            return int(max(first - offset, offset - last, 0))

        name, tensor = min(self.tensors.items(), key=lambda item: distance(item[1]))
        first = tensor.storage_offset() * tensor.element_size()
        return name, (offset - first) // tensor.element_size(), _span(tensor)


def _span(tensor: Tensor) -> int:
    """Elements from a tensor's first to its last, those of gaps included."""
    if not tensor.numel():
        return 0
    return 1 + sum((int(size) - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


class LaunchMemory:
    """The arguments of one launch in their arena."""

    def __init__(self, arguments: dict[str, Tensor]) -> None:
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in arguments.values() if t.numel()}
        sizes = {place: -(-storage.nbytes() // ALIGNMENT) * ALIGNMENT for place, storage in storages.items()}
        total = sum(sizes.values()) + GAP_BYTES * (len(sizes) + 1) + ALIGNMENT
        self.arena = torch.zeros(total, dtype=torch.uint8)
        at = GAP_BYTES + -(self.arena.data_ptr() + GAP_BYTES) % ALIGNMENT
        self.regions: dict[int, Region] = {}
        for place, storage in storages.items():
            part = self.arena[at : at + storage.nbytes()]
            part.copy_(_bytes(storage))
            self.regions[place] = Region(storage, part.data_ptr(), storage.nbytes(), part)
            at += sizes[place] + GAP_BYTES
        for name, tensor in arguments.items():
            if tensor.numel():
                self.regions[tensor.untyped_storage().data_ptr()].tensors[name] = tensor
        for region in self.regions.values():
            region.note_elements()
        self.moved = 0

    def placed(self, tensor: Tensor) -> Tensor:
        """The same tensor in the arena."""
        region = self.regions.get(tensor.untyped_storage().data_ptr()) if tensor.numel() else None
        if region is None:
            return tensor
        start = (region.bytes.data_ptr() - self.arena.data_ptr()) + tensor.storage_offset() * tensor.element_size()
        typed = self.arena[start % tensor.element_size() :]
        typed = typed[: typed.numel() // tensor.element_size() * tensor.element_size()].view(tensor.dtype)
        return typed.as_strided(tensor.shape, tensor.stride(), start // tensor.element_size())

    def take_back(self) -> None:
        """What was stored goes where the arguments are."""
        for region in self.regions.values():
            if region.written:
                _bytes(region.storage).copy_(region.bytes)

    def load(self, addresses: Tensor, size: int, program: int) -> None:
        for region, offsets in self._found("load", addresses, size, program):
            if region.written:
                _refuse("load-after-store", region, offsets, _others(region.writer[offsets], program), program)
            before = region.reader[offsets]
            region.reader[offsets] = torch.where((before == NOBODY) | (before == program), program, SEVERAL)

    def store(self, addresses: Tensor, size: int, program: int) -> None:
        for region, offsets in self._found("store", addresses, size, program):
            _refuse("store-twice", region, offsets, _others(region.writer[offsets], program), program)
            _refuse("store-after-load", region, offsets, _others(region.reader[offsets], program), program)
            region.writer[offsets] = program
            region.written = True

    def add(self, addresses: Tensor, size: int, program: int) -> None:
        """An atomic operation: others may write there too, atomically."""
        for region, offsets in self._found("store", addresses, size, program):
            plain = _others(region.writer[offsets], program)
            _refuse("store-twice", region, offsets, torch.where(plain == ATOMIC, NOBODY, plain), program)
            region.writer[offsets] = ATOMIC
            region.written = True

    def _found(self, doing: str, addresses: Tensor, size: int, program: int) -> Iterator[tuple[Region, Tensor]]:
        """The regions with the offsets accessed in each. KernelFault for what lies in none."""
        self.moved += size * addresses.numel()
        rest, first, last = addresses, int(addresses.min()), int(addresses.max())
        for region in self.regions.values():
            if last < region.base or first >= region.base + region.size:
                continue
            offsets = rest - region.base
            if first >= region.base and last < region.base + region.size:
                rest = NOTHING
            else:
                inside = (offsets >= 0) & (offsets < region.size)
                offsets, rest = offsets[inside], rest[~inside]
                if not offsets.numel():
                    continue
            elements = region.elements[offsets]
            if not elements.all():
                raise self._outside(doing, region, offsets[~elements], program)
            yield region, offsets
            if not rest.numel():
                return
        raise self._nowhere(doing, rest, program)

    def _nowhere(self, doing: str, addresses: Tensor, program: int) -> KernelFault:
        first = int(addresses.min())
        nearest = min(self.regions.values(), key=lambda r: max(r.base - first, first - r.base - r.size), default=None)
        if nearest is None:
            return KernelFault(f"{doing}-outside", "", 0, 0, [program])
        return self._outside(doing, nearest, addresses - nearest.base, program)

    def _outside(self, doing: str, region: Region, offsets: Tensor, program: int) -> KernelFault:
        beyond = offsets[offsets >= 0]
        name, index, count = region.place_of(int(beyond.min() if beyond.numel() else offsets.max()))
        place = "between" if 0 <= index < count else "outside"
        return KernelFault(f"{doing}-{place}", name, index, count, [program])


def _others(programs: Tensor, program: int) -> Tensor:
    """The programs, with nobody in place of this one."""
    return torch.where(programs == program, NOBODY, programs)


def _refuse(kind: str, region: Region, offsets: Tensor, others: Tensor, program: int) -> None:
    met = others != NOBODY
    if kind == "load-after-store":
        met &= others != ATOMIC
    if met.any():
        at = int(met.nonzero()[0])
        name, index, count = region.place_of(int(offsets[at]))
        other = int(others[at])
        raise KernelFault(kind, name, index, count, [program, *([other] if other >= 0 else [])])


def _bytes(storage: torch.UntypedStorage) -> Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(storage)
