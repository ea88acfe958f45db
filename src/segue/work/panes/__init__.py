"""`segue watch`: agents in panes that people started are kept alive.

Which panes hold one: `finding`. The way of a stop: `watcher` (a pane printed something, and is
looked at) → `looks` (what its screen shows) → `stops` (is it new; until when) → `workers` (the
row) → at its instant `resuming` (looked at again, and told to go on, once) → `workers`.
"""
