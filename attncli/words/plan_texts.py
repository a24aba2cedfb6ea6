"""What is said of the plan for an interview: `attn plan`, the Plan screen, the countdown on Home and in statistics."""

from __future__ import annotations

from attncli.i18n import Localised, _

TODAY = _("The interview is today.")
TOMORROW = _("The interview is tomorrow ({date:%Y-%m-%d}).")
IN_DAYS = _("The interview is in {days} days ({date:%Y-%m-%d}).")
EXPECTED = _(
    "At {minutes} min a day you should recall {recall:.0%} of what is asked (likely {low:.0%} to {high:.0%}); "
    "{stopped:.0%} if you stop now."
)
BASIS = _("Based on {reviews} reviews of yours: {learn:.0f} s to learn a card, {review:.0f} s to review one.")
NO_BASIS = _(
    "Based on no reviews of yours yet: {learn:.0f} s to learn a card and {review:.0f} s to review one are assumed."
)
UNTIMED_BASIS = _(
    "Based on {reviews} reviews of yours. How long they took is not known: {learn:.0f} s to learn a card and "
    "{review:.0f} s to review one are assumed."
)
STUDIED = _("Studied today already: about {minutes:.0f} minutes.")
LEFT_OUT = _("Too little time for everything: cards that stay unseen: {cards}, core ones among them: {core}.")
NEEDED = _("{minutes} minutes a day would reach every card.")
NEVER_ENOUGH = _("Not even four hours a day would reach every card.")
CHALLENGES_LEFT = _("Challenges that stay unsolved: {count}.")
DAY = _("Today, {minutes:.0f} minutes")
REST_OF_DAY = _("The rest of today, {minutes:.0f} minutes")
DONE = _("Today's time is used up.")
DAYS = _("Day by day")
BESIDE_REVIEW = _(
    "This list is chosen for recall on the day of the interview; Review on Home asks what is due today. Their cards "
    "may differ, and answers to either count."
)
NEW = _("{count} new")
REVIEWS = _("{count} to review")
MINUTES = _("{minutes:.0f} min")
NEW_CARDS = _("New:")
REVIEW_CARDS = _("Review:")
CHALLENGE = _("Challenge:")
MORE_CARDS = _("… and {count} more cards")
MORE_DAYS = _("… and {count} days more")
FREE = _("free")
LAST_PASS = _("last pass")
LAST_PASS_FROM = _("The last pass begins on {date:%Y-%m-%d}: each seen card once more, where it helps most.")
TOPICS = _("Recall on the day, by topic")
HEAD_TOPIC = _("topic")
HEAD_SEEN = _("seen")
HEAD_PLANNED = _("planned")
HEAD_RECALL = _("recall")
HEAD_LIKELY = _("likely")
HEAD_STOPPED = _("if you stop")
COUNTDOWN = _("{days} days to the interview · {ready:.0%} of what is asked is ready")
COUNTDOWN_TOMORROW = _("Interview tomorrow · {ready:.0%} of what is asked is ready")
COUNTDOWN_TODAY = _("Interview today · {ready:.0%} of what is asked is ready")


def countdown_line(days_left: int, ready: float) -> Localised:
    """How far away the interview is, and the share of what is asked that is ready for it as things stand."""
    said = COUNTDOWN_TODAY if days_left == 0 else COUNTDOWN_TOMORROW if days_left == 1 else COUNTDOWN
    return said.format(days=days_left, ready=ready)
