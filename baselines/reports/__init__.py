"""Reports on runs: tables and pictures, with the papers' numbers where they are comparable."""

from .published import published_results
from .systems import collect_runs
from .write import write_report

__all__ = ["collect_runs", "published_results", "write_report"]
