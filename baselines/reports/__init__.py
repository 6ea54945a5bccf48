"""Reports on runs: tables and pictures, with the papers' numbers where they are comparable."""
