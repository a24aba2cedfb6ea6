"""Use cases without a user interface; the command line, the app and the servers call them."""
