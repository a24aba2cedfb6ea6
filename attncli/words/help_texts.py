"""What `--help` says of each command, paragraph by paragraph; the English stands with the command as well.

A test holds the two to each other. Loaded when help is asked for in Chinese, and by nothing else.
"""

from __future__ import annotations

from attncli.i18n import Localised, _

COMMAND_HELP: tuple[Localised, ...] = (
    _("Get ready for Transformer and LLM interviews: cards on a schedule, code that is graded."),
    _("Without a command the app opens."),
    # Cards and reviews
    _("Record one review of CARD. It is on disk once the new schedule is printed."),
    _("Take CARD out of the queue for today."),
    _("Take CARD out of the queue for good."),
    _("Put a suspended or buried CARD back into the queue."),
    _("List cards, or those whose text matches QUERY: English words and their beginnings, Chinese of any length."),
    _("Practise cards of your choice, due or not."),
    _(
        "Answers are reviews and change the schedule, unless it is a cram. Suspended and buried cards are left out. "
        "Without options the app asks what to drill."
    ),
    _("Show what is due now."),
    _("Review what is due."),
    _("Print one CARD, whole."),
    _("Answer cards that have one right answer, scored at the end."),
    _("A quiz changes no schedule and records nothing. Suspended and buried cards are left out."),
    _("Take back what was last done on this machine."),
    _(
        "A review, suspend, bury, unsuspend, tag, note, attempt, repair, fit or a step of a mock interview; what was "
        "seen stays seen."
    ),
    _("A timed mock interview: warm-up, a deep dive along follow-ups, code at the whiteboard, bugs to mend."),
    _(
        "Cards keep their schedule; what was missed counts as weak, and its report is kept. Code that is graded is an "
        "attempt like any other. An interview that was not finished is gone on with."
    ),
    _("Fit the FSRS parameters to your own reviews; kept if they predict recall better."),
    _("Plan each day until the interview: what to study, the recall to expect, what does not fit."),
    _("Retention, streak, forecast, and how ready each topic is."),
    # Banks, progress, other programs
    _("The question bank."),
    _("Validates banks: every problem at once, each as file:line:column: message."),
    _("Without PATHS the bundled bank and your own banks are checked."),
    _("Scaffolds a card or a challenge in place."),
    _("Adds a card to your own bank TOPIC, with places for a question and an answer, or with those that are given."),
    _("Prints where it begins, as file:line. One language, a question and an answer are enough."),
    _("A folder for the challenge ID of TRACK, in which the reference and one wrong solution are left to write."),
    _("In a checkout it lies in impl/, otherwise in challenges/ of your attn folder."),
    _("Write a consistent copy of your progress."),
    _("Replace your progress by the backup FILE; a copy of what was there is kept."),
    _("Read or set a setting; without KEY, list them all."),
    _("Check versions, places, the sandbox and your history."),
    _("Print the completion script for SHELL; source it from the shell's start-up file."),
    _("Take something along: the interview summary, a deck for Anki, the history."),
    _("A deck for Anki, with schedules and review history; importing a later one there updates its cards."),
    _("The whole history, one JSON document a line: what `attn import log` merges."),
    _("One page at a glance, weak cards with their answers, your own code, what to review before the day."),
    _("Take over what another program or machine has."),
    _("Cards and review history from FILE, an .apkg or .colpkg that Anki exported; what is here already counts once."),
    _("Merge a history: FILE from `attn export log` or `attn backup`, or a FOLDER of them; twice counts once."),
    _("Merge the histories of all machines that share the folder DIR, and leave this one's there."),
    # Challenges
    _("List the challenges with your standing in each."),
    _("Write a starter file for CHALLENGE; an existing file is never overwritten."),
    _("Print the next hint for CHALLENGE; it is recorded as seen."),
    _("Print the reference of CHALLENGE; it is recorded as seen."),
    _("What interviewers ask next goes to stderr, so that the reference can be kept as a file."),
    _("Grade FILE as a solution of CHALLENGE: exit 0 accepted, 1 rejected, 2 unusable, 3 the judge failed."),
    _("Grade DIR/<learner>/<challenge>.py for everyone: exit 0 graded, 2 nothing to grade, 3 the judge failed."),
    _(
        "Results and their seed are kept in DIR/.attn-cohort: no file is graded twice. "
        "Nothing is recorded as your attempt."
    ),
    _("Run one small engine of your own solved pieces: it trains, then serves."),
    _(
        "What is missing is the reference. Exit 0 where the engine runs right; 1 where it does not, with the piece "
        "that breaks it."
    ),
    _("Prove CHALLENGES (all of them by default): right solutions are accepted, wrong ones rejected."),
    _("What reading shows to be wrong with their files is told first, all at once, and then nothing is run."),
    # Experiments and doors
    _("Run the experiment ID behind a card's claim; without ID list them."),
    _("TEXT is what attention-map looks at, in any language."),
    _("Exit 0 where the claim showed, 1 where it did not."),
    _("Serve your own assistant: it quizzes you, gives hints and grades, over the Model Context Protocol on stdio."),
    _("Serve the app to a browser on this machine, at the URL that is printed; Ctrl-C ends it."),
)
