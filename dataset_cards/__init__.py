"""Dataset cards: prose and templates, one folder per dataset."""
