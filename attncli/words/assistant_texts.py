"""What `attn mcp` tells the learner's own assistant: how it leads a sitting, what each tool does and takes."""

from __future__ import annotations

from attncli.i18n import Localised, _

TITLES: dict[str, Localised] = {
    "title.due": _("What is due"),
    "title.next-card": _("Put a card"),
    "title.attempt": _("Hand in the learner's answer"),
    "title.rate": _("Record the rating"),
    "title.challenges": _("List the coding challenges"),
    "title.start": _("Write a starter file"),
    "title.hint": _("Give the next hint"),
    "title.grade": _("Grade a solution"),
    "title.stats": _("How far the learner has come"),
}
DESCRIPTIONS: dict[str, Localised] = {
    "about.due": _("Counts what is due now: new, learning and review cards, by topic, and challenges."),
    "about.next-card": _(
        "The next card to ask: its question, never its answer. Without arguments it follows the schedule; the same "
        "card comes again until it is attempted and rated."
    ),
    "about.attempt": _(
        "Hands in what the learner answered to the card that was put, and only then gives the answer, the points to "
        "look for, and the marking where a card has one right answer. `how` of next_card says which argument it wants."
    ),
    "about.rate": _(
        "Records how well the learner recalled the card that was attempted: on disk when this returns. All points "
        "said, or marked right: good; at least half of them: hard; fewer, or marked wrong: again; no effort: easy."
    ),
    "about.challenges": _("Every coding challenge with the learner's standing in it and when it is due again."),
    "about.start": _(
        "Writes a starter for a challenge into the learner's solutions folder and shows it, statement included."
    ),
    "about.hint": _("The next hint for a challenge. It is recorded as help, so give it when the learner asks."),
    "about.grade": _(
        "Grades the learner's code in a sandbox and records the attempt: verdict, checks, the smallest counterexample, "
        "the mistake that it looks like. Without file and source it takes their file in the solutions folder."
    ),
    "about.stats": _(
        "Retention, streak, forecast, and for each topic how ready the learner is and which cards are weak."
    ),
}
ARGUMENTS: dict[str, Localised] = {
    "argument.next-card.topic": _("Only cards of this topic, by its id."),
    "argument.next-card.card": _("This card, by its id, whether it is due or not."),
    "argument.next-card.weak": _("The weakest cards, whether they are due or not."),
    "argument.attempt.card": _("The id of the card that was put."),
    "argument.attempt.text": _("What the learner said, or the number with its unit."),
    "argument.attempt.numbers": _(
        "The numbers of the chosen options, all items in the learner's order, or the line with the mistake."
    ),
    "argument.attempt.blanks": _("What the learner put into the blanks, in order."),
    "argument.attempt.gave-up": _("True only if the learner said that they do not know; then nothing else is given."),
    "argument.rate.card": _("The id of the card that was attempted."),
    "argument.rate.rating": _("How well it was recalled."),
    "argument.rate.points": _("For a card that is not marked: the numbers of the points that the learner made."),
    "argument.challenges.track": _("Only this track."),
    "argument.start.challenge": _("Its id."),
    "argument.start.bug": _(
        "A wrong solution to debug instead of an empty starter; another one only after it was graded."
    ),
    "argument.start.fresh": _("Begin anew: a file that is there is kept as a numbered copy."),
    "argument.hint.challenge": _("The challenge."),
    "argument.grade.challenge": _("The challenge that the code solves."),
    "argument.grade.file": _("The file to grade: a path, from the solutions folder where it is not absolute."),
    "argument.grade.source": _("The code itself instead of a file."),
    "argument.grade.rung": _("What is asked for: solved (the whiteboard) or hardened (production)."),
}
HOW: dict[str, Localised] = {
    "qa": _("text: what the learner said"),
    "choice": _("numbers: of the one right option"),
    "choice-many": _("numbers: of all right options"),
    "numeric": _("text: a number"),
    "numeric-unit": _("text: a number in {unit}"),
    "cloze": _("blanks: {n} texts, one for each blank"),
    "ordering": _("numbers: of all items, in the right order"),
    "debug": _("numbers: the one line with the mistake"),
}
