"""The interview summary as Markdown, HTML and PDF, and the report on a class as HTML."""
