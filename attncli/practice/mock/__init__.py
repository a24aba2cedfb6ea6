"""The mock interview: what is asked, for how long, and what it came to."""
