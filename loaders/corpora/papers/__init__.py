"""Full-text papers, in the formats that pipelines emit, to one record."""
