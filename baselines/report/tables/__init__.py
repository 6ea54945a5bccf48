"""Tables of a report, rows under a head, and Markdown of them."""
