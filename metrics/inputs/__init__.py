"""Inputs of any kind, read strictly: nothing is cast, filled in or cut off."""
