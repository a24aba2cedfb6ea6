"""What a learner takes along: the interview summary."""
