"""The themes of the app (dark, light, high contrast) and of its code editor. Text has a contrast of at least 7 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.theme import Theme

if TYPE_CHECKING:
    from textual.widgets.text_area import TextAreaTheme

DARK = Theme(
    name="attn-dark",
    primary="#7fb4ff",
    secondary="#9aa7bd",
    accent="#e6b673",
    success="#8fd694",
    warning="#e6c07b",
    error="#ff8f8f",
    foreground="#e4e8ef",
    background="#11151c",
    surface="#181e28",
    panel="#222b39",
    dark=True,
    variables={
        "border": "#3a4659",
        "block-cursor-blurred-background": "#283c57",
        "text-muted": "#a3afc2",
        "input-selection-background": "#7fb4ff 30%",
        "block-cursor-text-style": "bold",
    },
)
LIGHT = Theme(
    name="attn-light",
    primary="#0b4fa8",
    secondary="#4d5a6e",
    accent="#8a4b00",
    success="#13631f",
    warning="#7a5200",
    error="#a5141d",
    foreground="#1d2430",
    background="#faf8f4",
    surface="#f1eee7",
    panel="#e4dfd4",
    dark=False,
    variables={
        "border": "#b9b1a1",
        "block-cursor-blurred-background": "#c6d5e8",
        "text-muted": "#4d5768",
        "input-selection-background": "#0b4fa8 25%",
        "block-cursor-text-style": "bold",
    },
)
CONTRAST = Theme(
    name="attn-contrast",
    primary="#ffe14d",
    secondary="#ffffff",
    accent="#5ce1ff",
    success="#7dff8a",
    warning="#ffd24d",
    error="#ffb3b3",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1a1a1a",
    dark=True,
    variables={
        "border": "#ffffff",
        "block-cursor-blurred-background": "#3d3500",
        "text-muted": "#e0e0e0",
        "input-selection-background": "#ffe14d 40%",
        "block-cursor-text-style": "bold reverse",
    },
)
THEMES = (DARK, LIGHT, CONTRAST)
_NAMED = {"dark": DARK, "light": LIGHT, "contrast": CONTRAST}


def theme_named(setting: str) -> str:
    """Return the Textual theme for the setting `theme`: `light`, `dark`, `contrast`, or any name that Textual has."""
    return _NAMED[setting].name if setting in _NAMED else setting


_KEYWORDS = "keyword keyword.function keyword.return keyword.operator conditional repeat exception include".split()
_NUMBERS = "number float boolean constant.builtin type.builtin".split()
_NAMES = "function method class type type.class constructor".split()


def code_theme_named(theme: Theme) -> str:
    """Return the editor theme for `theme`: the app's own, or for other themes a light or dark one of Textual."""
    if theme in THEMES:
        return theme.name
    return "vscode_dark" if theme.dark else "github_light"


def code_theme(theme: Theme) -> TextAreaTheme:
    """Return the editor theme for a theme of the app, under its name."""
    from textual.widgets.text_area import TextAreaTheme  # loads a parser, which the editor alone needs

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
            **dict.fromkeys(_KEYWORDS, Style(color=theme.primary, bold=True)),
            **dict.fromkeys(_NUMBERS, Style(color=theme.accent)),
            **dict.fromkeys(_NAMES, Style(bold=True)),
            **dict.fromkeys(("string", "string.documentation"), Style(color=theme.success)),
            "comment": Style(color=muted, italic=True),
        },
    )
