"""One screen a module, with its `.tcss` beside it."""
