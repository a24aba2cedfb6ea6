"""Memory: FSRS-6 schedules folded from the log, study days, forecasts, queue order. No I/O, no clock."""
