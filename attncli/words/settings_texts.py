"""What the settings are called, and what each does: the screen that changes them has nothing else to say about them."""

from __future__ import annotations

from attncli.i18n import Localised, _, pgettext, quoted

NAMES: dict[str, Localised] = {
    "lang": _("Language"),
    "desired_retention": _("Desired retention"),
    "topic_retention": _("Retention by topic"),
    "new_per_day": _("New cards a day"),
    "day_start": _("The day begins at"),
    "fuzz": _("Spread due dates"),
    "learning_steps": _("Learning steps"),
    "relearning_steps": _("Relearning steps"),
    "maximum_interval_days": _("Longest interval"),
    "theme": _("Colours"),
    "reduced_motion": _("Reduced motion"),
    "answer_timer": _("Answer timer"),
    "editor": _("Editor"),
    "rung": _("Accept challenges as"),
    "interview": _("Interview"),
    "level": _("Interview level"),
    "minutes_per_day": _("Minutes a day"),
    "easy_days": _("Easy days"),
}
"""What stands beside a value."""

EXPLAINED: dict[str, Localised] = {
    "lang": _("Language of cards, screens and messages. `l` switches it anywhere in the app."),
    "desired_retention": _(
        "The share of reviews that you want to recall, 0.7 to 0.97. More costs time: at 0.95 intervals are 0.4 times "
        "as long as at 0.9."
    ),
    "topic_retention": _(
        "Topics that you want to recall better, or less well, than the rest: att=0.95 kv=0.85; empty for none."
    ),
    "new_per_day": _(
        "How many unseen cards a day brings at most, 0 to 9999. Each new card comes back several times in its first "
        "weeks."
    ),
    "day_start": _("The local time at which a new day begins: before it, late answers still count for yesterday."),
    "fuzz": _("Whether intervals are spread by a few days, so that cards learnt together do not stay together."),
    "learning_steps": _("Delays between the first answers to a new card, such as 1m 10m; empty for none."),
    "relearning_steps": _("Delays after a card was forgotten, such as 10m; empty for none."),
    "maximum_interval_days": _("No card waits longer than this many days."),
    "theme": _("Dark, light, or contrast: white on black, nothing faint. Ctrl+T changes between dark and light."),
    "reduced_motion": _("Whether lists and texts jump where they would glide."),
    "answer_timer": _("Whether a review counts down the 30 seconds that an answer takes aloud. It interrupts nothing."),
    "editor": _("The command that opens a solution, such as vim or code --wait; empty for $VISUAL, then $EDITOR."),
    "rung": _("What counts as accepted: solved is right at the whiteboard, hardened is right in production too."),
    "interview": _("The day of the interview, such as 2027-03-31, today or later; empty for none."),
    "level": _(
        "The interview ahead: screen (a first call), onsite (whole rounds), research. New cards up to it come first; "
        "a drill and a mock interview in the app begin with it."
    ),
    "minutes_per_day": _(
        "How many minutes a day the plan for the interview and the review queue may fill, 1 to 960; the queue keeps to "
        "them once they are set."
    ),
    "easy_days": _(
        "Weekdays with less time, each with the percentage of the minutes that is left, such as sat=50 sun=0; empty "
        "for none."
    ),
}
"""What a setting does and how its value is written."""

TEXTS: dict[str, Localised] = {
    "palette.settings": _("Change the settings"),
    "settings.true": _("yes"),
    "settings.false": _("no"),
    "settings.en": quoted("English"),
    "settings.zh": quoted("中文"),
    "settings.dark": _("dark"),
    "settings.light": _("light"),
    "settings.contrast": _("contrast"),
    "settings.solved": _("solved"),
    "settings.hardened": _("hardened"),
    "settings.any": _("any"),
    "settings.screen": _("screen"),
    "settings.onsite": _("onsite"),
    "settings.research": pgettext("position", "research"),
}
"""Everything else on the screen; a part of the table in `app_texts`."""
