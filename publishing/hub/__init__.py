"""The Hub, through its own client: repositories and collections, with errors that help."""
