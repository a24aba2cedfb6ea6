"""The Textual app: screens and widgets over `attncli.practice`. Commands without a screen import nothing of it."""
