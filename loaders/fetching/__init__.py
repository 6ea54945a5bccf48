"""Gets source files: from a local folder or from where they are published, never unverified."""

from .catalogue import Location, Source, Variant, list_sources
from .obtain import SourceFile, obtain, obtain_all

__all__ = ["Location", "Source", "SourceFile", "Variant", "list_sources", "obtain", "obtain_all"]
