"""Code: handed out, graded, hinted at, kept; and how challenges are written and proved."""
