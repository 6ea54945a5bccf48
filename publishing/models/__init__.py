"""A trained model on the Hub, with a card that carries its results."""
