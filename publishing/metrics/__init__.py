"""Publishes metrics as Spaces of the Hub."""
