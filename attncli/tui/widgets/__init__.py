"""The widgets of the screens; each takes the language of its texts, and none imports the store."""
