"""What every dataset shares: schema, declaration, definition, identity, and how it is found."""
