"""tmux: its panes through control mode, and the ways to its server."""
