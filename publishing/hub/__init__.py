"""The Hub, through its own client: repositories, with errors that help."""
