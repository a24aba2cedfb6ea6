"""What is remembered: FSRS-6 schedules folded from the log, study days, forgetting, queue order. No I/O, no clock."""
