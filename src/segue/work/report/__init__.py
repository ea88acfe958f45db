"""The report: what happened while nobody looked, for a terminal, as Markdown, as one HTML file."""
