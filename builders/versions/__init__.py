"""Built versions: written, verified, described by manifest and card, cached, installed."""
