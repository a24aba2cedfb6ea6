"""Read the metadata of experiment files without running them."""

import pytest

from attncli.errors import ExperimentFailed, NotFound
from attncli.experiments.runner import catalogue, find
from attncli.i18n import Localised

from .conftest import MakeExperiment


def test_the_quick_form_has_one_seed(make: MakeExperiment) -> None:
    found = find(make(SEEDS="3"), "toy")
    assert (found.seeds(quick=False), found.seeds(quick=True)) == ([0, 1, 2], [0])


def test_they_are_listed_by_id_and_an_unknown_one_names_the_nearest(make: MakeExperiment) -> None:
    make("second")
    assert [found.id for found in catalogue(make("first"))] == ["first", "second"]
    impl = make("qk-variance")
    with pytest.raises(NotFound, match=r"there is no experiment qk-varience; did you mean qk-variance\?"):
        find(impl, "qk-varience")
    with pytest.raises(NotFound, match="there is no experiment zzz; `attn experiment` lists them"):
        find(impl, "zzz")
    for id in ("../basics/double/reference", "/etc/passwd", ""):
        with pytest.raises(NotFound):
            find(make(), id)


def test_a_file_without_a_constant_or_with_one_of_another_kind_is_refused(make: MakeExperiment) -> None:
    for constant in ("TITLE", "CLAIM", "CARDS", "CAVEATS", "SEEDS", "SECONDS"):
        said = f"toy.py is not an experiment .'{constant}' is missing.; it must define TITLE, CLAIM"
        with pytest.raises(ExperimentFailed, match=said):
            find(make(**{constant: ""}), "toy")
    for constant, value, why in (
        ("TITLE", "both('x')", "ValueError"),
        ("SECONDS", "3", "TypeError"),
        ("CLAIM", "{'en': 'x'}", "'zh' is missing"),
        ("SEEDS", "(", "SyntaxError"),
    ):
        with pytest.raises(ExperimentFailed, match=f"toy.py is not an experiment .{why}"):
            find(make(**{constant: value}), "toy")


def test_a_file_is_read_and_not_run(make: MakeExperiment) -> None:
    impl = make(run="raise SystemExit('this was run')", SEEDS="3")
    (found,) = catalogue(impl)
    assert (found.id, found.title, found.cards) == ("toy", Localised("Toy", "玩具"), ("att-01",))
    assert found.caveats == (Localised("Only a toy.", "只是玩具。"),)
    assert (found.quick_seconds, found.full_seconds) == (1, 2)
    assert found.document("zh")["title"] == "玩具"
    impl = make(TEXT='{"en": "a cat", "zh": "一只猫"}')
    assert find(impl, "toy").text == Localised("a cat", "一只猫")
    assert find(make(), "toy").text is None
