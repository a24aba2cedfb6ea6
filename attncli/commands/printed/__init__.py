"""What commands print: cards, plans, reports."""
