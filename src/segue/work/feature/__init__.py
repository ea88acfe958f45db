"""Features: designed, reviewed, implemented checkpoint by checkpoint, merged."""
