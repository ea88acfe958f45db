"""From the text of a terminal to rows, blocks, and who speaks in each."""
