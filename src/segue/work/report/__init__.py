"""The report: what happened while you were away, for a terminal, as Markdown, as one HTML file."""
