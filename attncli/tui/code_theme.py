"""The colours of code in the editor: those of the app, so that it is as light, or as strong, as what is around."""

from __future__ import annotations

from rich.style import Style
from textual.theme import Theme
from textual.widgets.text_area import TextAreaTheme

from attncli.tui.theme import THEMES

_WORDS = "keyword keyword.function keyword.return keyword.operator conditional repeat exception include".split()
_NUMBERS = "number float boolean constant.builtin type.builtin".split()
_NAMES = "function method class type type.class constructor".split()


def code_themes() -> list[TextAreaTheme]:
    """One for each theme of the app, under its name."""
    return [_code_theme(theme) for theme in THEMES]


def code_theme_named(theme: Theme) -> str:
    """The one to show code in; where the theme is none of the app's own, one that is as light or as dark."""
    if theme in THEMES:
        return theme.name
    return "vscode_dark" if theme.dark else "github_light"


def _code_theme(theme: Theme) -> TextAreaTheme:
    muted, ground, raised = theme.variables["text-muted"], theme.background, theme.panel
    assert theme.foreground and ground and raised
    return TextAreaTheme(
        name=theme.name,
        base_style=Style(color=theme.foreground, bgcolor=ground),
        gutter_style=Style(color=muted, bgcolor=ground),
        cursor_style=Style(color=ground, bgcolor=theme.foreground),
        cursor_line_style=Style(bgcolor=raised),
        cursor_line_gutter_style=Style(color=theme.foreground, bgcolor=raised, bold=True),
        bracket_matching_style=Style(bgcolor=raised, bold=True, underline=True),
        selection_style=Style(bgcolor=theme.variables["block-cursor-blurred-background"]),
        syntax_styles={
            **dict.fromkeys(_WORDS, Style(color=theme.primary, bold=True)),
            **dict.fromkeys(_NUMBERS, Style(color=theme.accent)),
            **dict.fromkeys(_NAMES, Style(bold=True)),
            **dict.fromkeys(("string", "string.documentation"), Style(color=theme.success)),
            "comment": Style(color=muted, italic=True),
        },
    )
