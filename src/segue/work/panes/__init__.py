"""`segue watch`: keeps agents alive in panes that people started.

The pane executor (`engine/executors/pane.py`) finds them, reads their screens and types. `watcher`
drives them by the one loop, `policy` says what follows, `pane_records` writes it down, and
`messages` has the words.
"""
