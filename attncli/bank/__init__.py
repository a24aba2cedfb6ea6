"""Convert YAML to cards and challenges; report all problems at once as `file:line:column: message`.

Only this package imports yaml and pydantic. It returns plain documents (dicts, lists, strings, numbers), from which
`attncli.domain` builds cards, so code that only shows or schedules cards needs neither library.
"""
