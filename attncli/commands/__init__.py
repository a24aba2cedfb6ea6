"""One module per command (or small family of them); `attncli.cli` loads only the module of the called one."""
