from attncli.bank.problems import Finding
from attncli.bank.yaml_reader import parse
from attncli.i18n import quoted

TEXT = """\
topic: att
cards:
  - id: att-01
    question: {en: Why, zh: 为什么}
    points:
      - {en: a, zh: 甲}
      - en: b
  - id: att-02
"""


def place(*way: str | int, at_key: bool = False, text: str = TEXT) -> tuple[int, int]:
    (problem,) = parse("f", text).located([Finding(way, quoted("m"), at_key=at_key)])
    return problem.line, problem.column


def test_values_keys_and_items_have_their_place() -> None:
    assert place("topic") == (1, 8)
    assert place("cards", 0) == (3, 5)
    assert place("cards", 0, "question", "zh") == (4, 29)
    assert place("cards", 0, "points", 1, "en") == (7, 13)
    assert place("cards", 0, "points", at_key=True) == (5, 5)
    assert place("cards", 1, "id") == (8, 9)


def test_what_does_not_exist_stands_where_its_parent_does() -> None:
    assert place("cards", 0, "points", 1, "zh") == (7, 9)
    assert place("cards", 9, "id") == (3, 3)
    assert place("nothing") == (1, 1)


def test_an_empty_file_has_a_first_line() -> None:
    assert place(text="") == (1, 1)


def test_the_first_of_two_equal_keys_counts() -> None:
    assert place("a", "b", text="a: {b: 1}\na: {b: 2}\n") == (1, 8)


def test_places_before_a_fault_are_found() -> None:
    assert place("a", 0, text="a:\n- 1\n- [\n") == (2, 3)
