"""The use cases, headless. The command line and the app call this room and nothing below it."""
