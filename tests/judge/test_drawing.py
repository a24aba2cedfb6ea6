"""Draw sizes by axis name: once for a recording, or fixed."""

from __future__ import annotations

from attncli.domain.challenge import Facts
from attncli.judge.case import Profile, Turn
from attncli.judge.drawing import Declared, fixed_draw
from attncli.judge.make import Recorder

FACTS = Facts(axes={"x": "T d"}, sizes={"T": (1, 5), "d": (1, 3)}, derived={"D": "2 * d"})


def make() -> Recorder:
    return Recorder(fixed_draw, Profile("ordinary"), declared=Declared(FACTS))


def test_an_axis_that_is_held_has_its_size_and_so_has_what_follows_from_it() -> None:
    held = make()
    held.hold(T=40, d=7)
    assert held.argument("x").shape == (40, 7)
    assert held.size("D") == 14


def test_what_is_not_held_is_drawn() -> None:
    held = make()
    held.hold(T=40)
    assert held.argument("x").shape == (40, 3)


def test_the_next_recording_holds_nothing() -> None:
    held = make()
    held.hold(T=40, d=7)
    held.begin(Turn(sizes={"T": 2, "d": 1}))
    assert held.argument("x").shape == (2, 1)
