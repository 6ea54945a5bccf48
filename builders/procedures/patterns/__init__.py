"""SpaceNLI's procedure (section 3): problems drawn from labelled patterns and a mini world."""
