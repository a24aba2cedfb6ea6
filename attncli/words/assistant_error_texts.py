"""What an assistant is told over `attn mcp` where it asked for what cannot be. English stands where it is raised."""

from __future__ import annotations

from attncli.i18n import Localised, _

ASSISTANT: tuple[Localised, ...] = (
    _("card {id} was attempted and has no rating yet"),
    _("record one with rate"),
    _("name a card, or a topic or weak ones, not both"),
    _("card {id} was attempted already"),
    _("record its rating with rate"),
    _("gave_up goes with no answer, but {given} was given too"),
    _("card {id} wants {wanted}"),
    _("gave_up where the learner does not know. Nothing was told"),
    _("card {id} was not attempted yet"),
    _("hand in the learner's answer with attempt"),
    _("card {id} was marked"),
    _("leave out points"),
    _("card {id} has the points 1 to {total}"),
    _("name those that the learner made"),
    _("no card was put yet"),
    _("call next_card first"),
    _("card {id} is not the one that was put"),
    _("that is {id}"),
    _("a bug of {id} was handed out and not attempted yet"),
    _("grade it before you ask for another"),
    _("grade it, or say fresh to keep it as a copy"),
    _("give a file or source, not both"),
    _("{path} belongs to a challenge"),
    _("grade a file of the learner's own"),
    _("{path} is no Python file"),
    _("name one that ends in {suffix}"),
    _("there is no tool {name}"),
    _("there are {names}"),
    _("{tool}: {fault}; its input schema says what it takes"),
)
