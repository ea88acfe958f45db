"""`segue serve`: tasks that pass through phases, with people in between."""
