"""Versions on the Hub: publishing them, reading them back, comparing them."""
