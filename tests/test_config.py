from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attncli.config import KEYS, Settings, default_lang, load, save
from attncli.errors import ConfigInvalid, EnvironmentFailure


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "config.toml"


def test_without_a_file_everything_is_the_default_and_the_language_follows_the_locale(path: Path) -> None:
    assert load(path, {}) == Settings()
    for environ, lang in (
        ({}, "en"),
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_CN", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "zh"}, "zh"),
        ({"LANG": ""}, "en"),
    ):
        assert default_lang(environ) == load(path, environ).lang == lang


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("lang", "zh", "zh"),
        ("desired_retention", "0.85", 0.85),
        ("desired_retention", ".9", 0.9),
        ("new_per_day", "0", 0),
        ("day_start", "5:30", time(5, 30)),
        ("fuzz", "false", False),
        ("fuzz", "Off", False),
        ("fuzz", "1", True),
        ("learning_steps", "30s 5m 2h", (timedelta(seconds=30), timedelta(minutes=5), timedelta(hours=2))),
        ("learning_steps", "", ()),
        ("relearning_steps", "1d", (timedelta(days=1),)),
        ("maximum_interval_days", "365", 365),
        ("theme", "light", "light"),
        ("editor", "vim -n", "vim -n"),
        ("interview", "2027-03-31", date(2027, 3, 31)),
        ("interview", "", None),
        ("minutes_per_day", "45", 45),
        ("easy_days", "sun sat=80%", (("sat", 80), ("sun", 50))),
        ("easy_days", "Fri=0", (("fri", 0),)),
        ("easy_days", "", ()),
    ],
)
def test_what_is_set_is_read_back(path: Path, key: str, text: str, value: object) -> None:
    save(path, key, text)
    settings = load(path, {})
    assert getattr(settings, key) == value
    save(path, key, settings.text(key))
    assert getattr(load(path, {}), key) == value


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("lang", "de", "'de' is invalid; use one of en, zh"),
        ("desired_retention", "1", "is not a number from 0.7 to 0.97"),
        ("desired_retention", "nan", "is not a number"),
        ("new_per_day", "-1", "is not a whole number from 0 to 9999"),
        ("new_per_day", "2.5", "is not a whole number"),
        ("new_per_day", "٣", "is not a whole number"),
        ("day_start", "25:00", "is not a time; write it like 04:00"),
        ("fuzz", "maybe", "is invalid; use true or false"),
        ("learning_steps", "10", "is not a list of delays; write it like 1m 10m"),
        ("learning_steps", "0m", "a delay outside 1s to 30d"),
        ("maximum_interval_days", "0", "is not a whole number from 1 to 36500"),
        ("theme", "blue", "is invalid; use one of dark, light"),
        ("interview", "soon", "is not a date; write it like 2027-03-31"),
        ("interview", "2027-02-30", "is not a date"),
        ("minutes_per_day", "0", "is not a whole number from 1 to 960"),
        ("easy_days", "sunday", "is not a list of weekdays; write it like sat=50 sun=0"),
        ("easy_days", "sat=101", "is not a list of weekdays"),
        ("easy_days", "sat sat=0", "lists a weekday twice"),
        ("new_per_dya", "3", "did you mean new_per_day"),
        ("zzz", "3", "use one of lang, "),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(path: Path, key: str, text: str, message: str) -> None:
    with pytest.raises(ConfigInvalid, match=message):
        save(path, key, text)
    assert not path.exists()


def test_a_past_interview_is_refused_when_it_is_set_and_no_error_once_the_day_has_gone_by(path: Path) -> None:
    with pytest.raises(ConfigInvalid, match=r"interview: 2027-03-31 is in the past; give a future"):
        save(path, "interview", "2027-03-31", today=date(2027, 4, 1))
    assert not path.exists()
    for text in ("2027-03-31", "2027-04-01", ""):
        save(path, "interview", text, today=date(2027, 3, 31))
    save(path, "interview", "2027-03-31", today=date(2027, 3, 31))
    assert load(path, {}).interview == date(2027, 3, 31)


def test_comments_and_other_keys_survive_a_change_and_dates_may_be_toml_s_own(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("# mine\nlang = 'zh'  # Chinese\nnew_per_day = 3\ninterview = 2027-03-31\n", encoding="utf-8")
    save(path, "new_per_day", "7")
    text = "# mine\nlang = 'zh'  # Chinese\nnew_per_day = 7\ninterview = 2027-03-31\n"
    assert path.read_text(encoding="utf-8") == text and load(path, {}).interview == date(2027, 3, 31)


def test_all_problems_of_a_file_come_in_one_report(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("lang = 'de'\nnew_per_day = true\nintervew = ''\nfuzz = 1\n", encoding="utf-8")
    with pytest.raises(ConfigInvalid) as report:
        load(path, {})
    for part in (str(path), "lang: 'de'", "new_per_day: True", "did you mean interview", "fuzz: 1 is invalid"):
        assert part in str(report.value)


def test_what_is_no_toml_is_refused_with_a_remedy(path: Path) -> None:
    path.parent.mkdir()
    for content in (b"lang = ", b"\xff\xfe", b"[" * 5000, b"lang = 'en'\nlang = 'zh'\n"):
        path.write_bytes(content)
        for use in (lambda: load(path, {}), lambda: save(path, "lang", "en")):
            with pytest.raises(ConfigInvalid, match="fix or delete it"):
                use()
        assert path.read_bytes() == content


def test_the_day_on_which_the_interview_was_set_is_kept_until_another_date_is_set(path: Path) -> None:
    save(path, "interview", "2027-03-31", today=date(2027, 3, 1))
    save(path, "interview", "31 Mar", today=date(2027, 3, 9))
    assert load(path, {}).interview_since == date(2027, 3, 1)
    save(path, "interview", "2027-04-02", today=date(2027, 3, 28))
    assert load(path, {}).interview_since == date(2027, 3, 28)


@given(st.sampled_from(KEYS), st.text(max_size=20))
def test_any_text_is_taken_or_refused(tmp_path_factory: pytest.TempPathFactory, key: str, text: str) -> None:
    path = tmp_path_factory.mktemp("any") / "config.toml"
    try:
        save(path, key, text)
    except ConfigInvalid as error:
        assert "\n" not in str(error)
    else:
        load(path, {})


def test_only_settings_that_move_schedules_are_in_their_fingerprint() -> None:

    plain = Settings()
    for change in ({"lang": "zh"}, {"new_per_day": 3}, {"day_start": time(5, 0)}, {"theme": "light"}):
        assert plain._replace(**change).scheduling == plain.scheduling  # type: ignore[arg-type]
    for change in ({"fuzz": False}, {"desired_retention": 0.8}, {"learning_steps": ()}, {"maximum_interval_days": 9}):
        assert plain._replace(**change).scheduling != plain.scheduling  # type: ignore[arg-type]


def test_a_full_disk_and_a_place_that_cannot_be_used_are_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int) -> Callable[..., Any]:
        def raising(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        return raising

    with monkeypatch.context() as on_a_full_disk, pytest.raises(EnvironmentFailure, match="free some disk space"):
        on_a_full_disk.setattr(os, "fsync", fail(errno.ENOSPC))
        save(path, "lang", "zh")
    assert list(path.parent.iterdir()) == []
    (path.parent / "file").write_text("")
    with pytest.raises(EnvironmentFailure, match="choose another folder with --home"):
        save(path.parent / "file" / "config.toml", "lang", "en")
    monkeypatch.setattr(Path, "read_text", fail(errno.EACCES))
    with pytest.raises(EnvironmentFailure, match=r"Permission denied.*--home"):
        load(path, {})
