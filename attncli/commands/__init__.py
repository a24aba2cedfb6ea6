"""One module a command (or a small family of them); `attncli.cli` loads only the one that was called."""
