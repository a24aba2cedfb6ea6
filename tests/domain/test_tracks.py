"""Tracks have titles in both languages and an order; a learner's own tracks come last."""

from __future__ import annotations

from attncli.domain.vocabulary import TRACKS, reading_order, track_title
from attncli.i18n import Localised
from attncli.paths import bundled_impl


def test_every_bundled_track_is_known() -> None:
    tracks = {yaml.parent.parent.name for yaml in bundled_impl().glob("*/*/challenge.yaml")}
    assert tracks <= TRACKS.keys()


def test_titles_differ_between_tracks_and_languages() -> None:
    for lang in ("en", "zh"):
        assert len({title[lang] for title in TRACKS.values()}) == len(TRACKS)
    assert all(title.en != title.zh for title in TRACKS.values())


def test_the_reading_begins_with_attention_ends_with_serving_and_then_come_own_tracks() -> None:
    assert sorted(["mine", "serving", "another", "cache", "attention"], key=reading_order) == [
        "attention",
        "cache",
        "serving",
        "another",
        "mine",
    ]


def test_an_own_track_is_called_like_its_folder() -> None:
    assert track_title("mine") == Localised("mine", "mine")
    assert track_title("embeddings").zh == "词嵌入"
