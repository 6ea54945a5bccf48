"""What leaves the house: each metric as files that need nothing of this package."""
