"""What holds for cards, challenges and their texts: one file a rule, or a few of one thing."""
