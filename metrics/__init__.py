"""Metrics: one self-contained ``evaluate`` module a folder."""
