"""The screens by subject, each file with a `.tcss` of the same name beside it."""
