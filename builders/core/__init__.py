"""The uniform schema, what a dataset declares, and the base of every builder."""
