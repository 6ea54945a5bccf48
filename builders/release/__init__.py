"""A built version: a folder of Parquet files, card and manifest, laid out as on the Hub."""
