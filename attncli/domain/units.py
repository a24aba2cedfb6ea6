"""Units of answers, and conversion between them."""

from __future__ import annotations

from attncli.domain.arithmetic import ComputeError, Number

_BYTES: dict[str, Number] = {"bit": 0.125, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_BYTES |= {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_PLAIN: dict[str, Number] = {"": 1, "%": 0.01, "K": 10**3, "M": 10**6, "billion": 10**9, "trillion": 10**12}
_PLAIN |= {"万": 10**4, "亿": 10**8, "万亿": 10**12}
_SECONDS: dict[str, Number] = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}
_SECONDS |= {"hours": 3600, "day": 86400, "days": 86400, "years": 365 * 86400}
_FLOPS: dict[str, Number] = {"FLOP": 1, "KFLOP": 10**3, "MFLOP": 10**6, "GFLOP": 10**9, "TFLOP": 10**12}
_FLOPS |= {"PFLOP": 10**15, "EFLOP": 10**18}

DIMENSIONS: dict[str, dict[str, Number]] = {"bytes": _BYTES, "plain": _PLAIN, "time": _SECONDS, "operations": _FLOPS}
KNOWN_UNITS: tuple[str, ...] = tuple(unit for table in DIMENSIONS.values() for unit in table if unit)


def _factor(unit: str) -> tuple[str, Number]:
    for dimension, table in DIMENSIONS.items():
        if unit in table:
            return dimension, table[unit]
    raise ComputeError(f"unit \"{unit}\" is not known; use one of {', '.join(KNOWN_UNITS)}, or unit: ''")


def convert(value: Number, from_unit: str, to_unit: str) -> Number:
    """The value in another unit of the same dimension; rates such as `GB/s` are converted part by part.

    A unit that is not in the table (`tokens`) converts to itself alone.

    Raises:
        ComputeError: an unknown unit, or two that measure different things.
    """
    if from_unit == to_unit:
        return value
    if from_unit.count("/") == 1 and to_unit.count("/") == 1:
        (from_top, from_below), (to_top, to_below) = from_unit.split("/"), to_unit.split("/")
        return convert(value, from_top, to_top) / convert(1, from_below, to_below)
    from_dimension, from_factor = _factor(from_unit)
    to_dimension, to_factor = _factor(to_unit)
    if from_dimension != to_dimension:
        raise ComputeError(
            f'"{from_unit}" measures {from_dimension} and "{to_unit}" {to_dimension}; use units of one dimension'
        )
    return value * from_factor / to_factor
