"""Books: chapters written, judged and revised by agents, one after the other."""
