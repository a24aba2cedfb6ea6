"""What all commands have: options, the session, standard output, exit codes, help in Chinese."""
