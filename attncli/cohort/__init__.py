"""Many people's submissions: graded side by side, kept as they come, told in one report."""
