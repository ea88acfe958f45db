"""What carries a message: log heads, labels, JSON, exceptions, HTTP dumps."""
