"""A run: its config, its data, its execution and its folder."""
