"""What differs between two versions, and which number that calls for."""
