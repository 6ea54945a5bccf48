"""The papers' tables, measured on a built version when somebody asks (``nlihub stats``)."""
