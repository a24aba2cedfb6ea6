"""YAML to cards and challenges, with every problem at once as `file:line:column: message`.

This room alone imports yaml and pydantic. What it hands out are plain documents (dicts, lists, strings, numbers) that
`attncli.domain` turns into cards, so that nobody who only shows or schedules cards needs either library.
"""
