"""What somebody meets in the first hour, and which test holds how the program answers it."""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from textual.widgets import TextArea

from attncli.domain.text import Lang
from attncli.tui.theme import theme_named
from attncli.tui.widgets.key_bar import KeyBar

from .conftest import MakeApp, shown
from .every_screen import keys
from .test_challenge import REJECTED, Scripted, write_solution

ROOT = Path(__file__).parents[2]
SETTLED = {
    "tests/tui/test_challenge.py": {
        "test_a_missing_editor_is_said": "an editor that is missing is named, and the app goes on",
        "test_a_forbidden_call_is_not_buried_under_what_follows_from_it": "a forbidden call comes first",
    },
    "tests/judge/asking/test_pure_and_wrong.py": {
        "test_wrong_values_are_not_called_impure": "wrong values are not called impure",
    },
    "tests/commands/test_cards_and_answers.py": {
        "test_undo_takes_back_whatever_was_done_last": "undo is the last action of any kind",
    },
    "tests/tui/test_when_something_fails.py": {
        "test_what_was_put_away_can_be_taken_back": "what was put away can be taken back in the app",
    },
    "tests/commands/test_practice_commands.py": {
        "test_the_summary_takes_the_day_from_the_setting_and_refuses_a_day_that_is_past": "the day lies ahead",
        "test_completion_answers_the_shell": "completion knows cards, topics and challenges",
    },
    "tests/practice/plan/test_plan.py": {
        "test_too_little_time_is_said_with_numbers": "a plan says what too little time leaves out",
    },
    "tests/tui/test_app.py": {
        "test_home_says_why_nothing_is_due_and_what_to_do": "nothing due has a reason and a way on",
        "test_help_names_each_key_once_and_whole": "no key is clipped from the help",
        "test_the_way_back_is_named_however_narrow_the_line_is": "the way back is always named",
        "test_escape_on_home_leaves_nothing": "Escape on Home quits nothing",
    },
    "tests/practice/test_today.py": {
        "test_the_limit_names_what_waits_and_the_next_day": "the limit of new cards is named",
    },
    "tests/export/test_summary.py": {
        "test_what_failed_just_now_is_weak_with_and_without_a_date": "what failed just now is weak",
        "test_a_repaired_bug_file_is_not_own_code": "a mended bug is not one's own code",
    },
    "tests/practice/library/test_search.py": {
        "test_no_template_is_listed_undrawn": "no template is shown undrawn",
        "test_every_slip_of_one_letter_leads_back": "slips find what is meant",
        "test_an_id_comes_first_before_all_that_speak_of_it": "an id comes first",
    },
    "tests/commands/test_export_summary.py": {
        "test_a_files_ending_says_the_format": "a file's ending says its format",
    },
    "tests/tui/test_find_the_bug.py": {
        "test_the_mended_bug_counts_apart_and_schedules_nothing": "a mended bug counts apart",
    },
    "tests/judge/naming/test_pairs.py": {
        "test_every_entry_has_to_be_explained_by_one_of_the_two": "two mistakes have names",
    },
    "tests/commands/plain/test_grade_watch.py": {
        "test_the_keys_give_a_hint_and_the_solution_and_q_ends": "watching asks before it shows",
    },
    "tests/practice/sittings/test_counts_hold_still.py": {
        "test_all_cards_stay_as_many_and_time_alone_moves_nothing": "the counts hold still",
    },
    "tests/practice/cards/test_new_card_order.py": {
        "test_any_ten_new_cards_in_a_row_have_three_kinds_and_four_topics": "the first cards are of several kinds",
    },
    "tests/tui/test_drill_screen.py": {
        "test_d_on_home_then_enter_starts_a_drill_that_counts": "cards are chosen by topic, kind and level",
    },
    "tests/tui/test_screens.py": {
        "test_enter_opens_the_question_space_the_rest_and_escape_returns_to_the_query": "the question comes first",
    },
    "tests/tui/test_review.py": {
        "test_long_answers_scroll_with_the_keyboard": "long answers scroll",
    },
    "tests/tui/test_notices.py": {
        "test_a_notice_covers_neither_card_nor_ratings": "a notice covers neither card nor ratings",
    },
    "tests/practice/library/test_library.py": {
        "test_a_topic_is_guessed_by_its_title": "a topic is known by its title and in any case",
    },
    "tests/bank/test_own_cards.py": {
        "test_a_question_and_an_answer_in_one_language_are_enough": "an own card needs a question and an answer",
        "test_a_check_of_everything_tells_of_the_bundled_bank_in_one_line": "a check sums the bundled bank up",
    },
    "tests/bank/rules/test_link_rules.py": {
        "test_a_text_sends_nobody_to_an_experiment_that_is_not_there": "no text sends anybody to what is not there",
    },
    "tests/words/test_counterexample_lines.py": {
        "test_two_numbers_that_differ_are_printed_so_that_they_differ": "two numbers that differ look different",
    },
    "tests/commands/test_grade_command.py": {
        "test_a_loop_ends_at_the_timeout_and_says_so": "a timeout says the seconds that it had",
    },
    "tests/commands/test_chinese_usage.py": {
        "test_a_mistake_in_a_call_is_told_in_both_languages": "help, usage and errors are in Chinese",
    },
    "tests/words/test_bank_texts.py": {
        "test_every_problem_has_its_chinese": "problems of a bank are too",
    },
    "tests/words/test_glossary.py": {
        "test_the_app_has_one_word_for_each_of_its_things": "each thing has one word",
    },
    "tests/tui/test_snapshots.py": {
        "test_a_screen_looks_as_it_did": "every screen is read in every theme",
    },
    "tests/tui/test_after_solving.py": {
        "test_an_accepted_solution_is_followed_by_questions_whose_answers_open": "solving leads on",
    },
    "tests/tui/test_own_case_screen.py": {
        "test_the_counterexample_of_the_last_grading_is_there_to_begin_with": "a case of one's own is tried",
    },
    "tests/tui/test_browse_screens.py": {
        "test_a_card_of_ones_own_is_written_kept_and_found": "a card is added, found, noted and flagged in the app",
    },
    "tests/tui/test_mock_screens.py": {
        "test_a_whole_interview_by_keyboard": "a mock interview is held",
    },
}
NAMED = [(file, name) for file, names in SETTLED.items() for name in names]


@cache
def names_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[SETTLED[file][name] for file, name in NAMED])
def test_what_is_said_to_settle_it_names_a_test_that_there_is(file: str, name: str) -> None:
    assert name in names_in(file)


async def test_with_room_home_names_settings_and_plan_too_and_help_in_words(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(160, 40)) as pilot:
        await pilot.pause()
        bar = str(app.screen.query_one(KeyBar).render())
        assert all(named in bar for named in ("? Help", ", Settings", "p Plan", "a Add a card"))


async def test_the_last_question_of_the_first_run_finishes(make_app: MakeApp) -> None:
    app = make_app("first-run")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Next question" in shown(app) and "Finish" not in shown(app)
        await pilot.press("enter", "enter", "enter")
        await pilot.pause()
        assert "Finish" in shown(app) and "Next question" not in shown(app)


async def test_help_names_the_key_of_the_palette(make_app: MakeApp) -> None:
    app = make_app()
    async with app.run_test(size=(80, 40)) as pilot:
        await pilot.press("question_mark")
        await pilot.pause()
        assert "Ctrl+P" in shown(app) and "Every command" in shown(app)


@pytest.mark.parametrize(("lang", "said"), [("en", "has no repair round"), ("zh", "没有排错环节")])
async def test_r_says_where_a_challenge_has_no_repair_round(make_app: MakeApp, lang: Lang, said: str) -> None:
    app = make_app("challenges", lang=lang, challenge="causal-mask")
    app.grader = Scripted(lambda: REJECTED)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("r")
        await app.workers.wait_for_complete()
        assert said in [*app._notifications][-1].message and not app.screen.is_modal


async def test_a_quiz_from_home_asks_nothing_above_the_level_that_is_set(make_app: MakeApp) -> None:
    app = make_app()
    app.workspace.adopt(replace(app.workspace.settings, level="screen"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("z")
        await pilot.pause()
        quiz = app.screen.quiz  # type: ignore[attr-defined]
        assert quiz.wish.level == "screen" and "--level screen" in quiz.wish.command
        assert {asked.card.level for asked in quiz._questions} == {"screen"}


@pytest.mark.parametrize(
    ("card", "right"),
    [
        ("kv-04", "The answer is"),
        ("pos-03", "Wanted: 1."),
        ("att-09", "1. Scores QKᵀ"),
        ("att-15", "Line 3 or 4: Rows no longer sum to 1."),
    ],
)
async def test_a_card_that_is_read_shows_what_is_right_once(make_app: MakeApp, card: str, right: str) -> None:
    app = make_app()
    async with app.run_test(size=(80, 24)) as pilot:
        app.open_card(card)
        await pilot.pause(0.2)
        assert shown(app).count(right) == 1


async def test_tab_is_named_after_the_side_that_it_turns_to(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="sdpa")
    app.grader = Scripted(lambda: REJECTED)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await keys("g")(pilot)
        assert "Tab Statement" in shown(app) and "Tab Report" not in shown(app)
        await keys("tab")(pilot)
        assert "Tab Report" in shown(app) and "Tab Statement" not in shown(app)


async def test_the_statement_has_the_whole_width_until_there_is_a_report(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="sdpa")
    app.grader = Scripted(lambda: REJECTED)
    write_solution(app)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        assert app.screen.query_one("#statement").size.width > 110
        await keys("g")(pilot)
        assert app.screen.query_one("#statement").size.width < 62 < app.screen.query_one("#report").size.width + 10


async def test_enter_is_called_open_on_a_report_alone_where_an_interview_is_chosen(make_app: MakeApp) -> None:
    app = make_app("mock")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert "Enter Open" not in shown(app)
        before = app.screen.wish.minutes  # type: ignore[attr-defined]
        await pilot.press("down", "enter")
        await pilot.pause()
        assert "Enter Open" not in shown(app) and app.screen.wish.minutes != before  # type: ignore[attr-defined]


async def test_code_takes_the_colours_of_the_theme_at_once(make_app: MakeApp) -> None:
    app = make_app("challenges", challenge="sdpa")
    app.grader = Scripted(lambda: REJECTED)
    write_solution(app)
    async with app.run_test(size=(80, 24)) as pilot:
        await keys("w")(pilot)
        for name in ("light", "contrast", "dark"):
            app.theme = theme_named(name)
            await pilot.pause()
            assert app.screen.query_one(TextArea).theme == theme_named(name)
        app.theme = "textual-light"
        await pilot.pause()
        assert app.screen.query_one(TextArea).theme == "github_light"
