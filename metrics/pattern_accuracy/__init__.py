"""Pattern accuracy and its curve (SpaceNLI, section 4.2.2)."""
