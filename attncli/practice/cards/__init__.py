"""One card: asked, marked, revealed, rated, held, annotated; and which cards are due, weak or wished for."""
