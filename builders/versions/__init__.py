"""Built versions: written, measured, verified, described by manifest and card, installed."""
