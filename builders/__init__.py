"""Records into datasets in the uniform schema."""
