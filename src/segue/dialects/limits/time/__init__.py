"""Until when: instants and lengths of time as messages print them."""
