"""How the rows of every construction are made: read, choose, order, write."""
