"""Gold labels and scoring: what predictions are compared with, and how."""
