"""A run of cards: review, drill, quiz, and the one that an assistant leads."""
