"""WezTerm: its panes through its command line."""
