"""Published versions as they are read: to prove them, to load them, to compare them."""
