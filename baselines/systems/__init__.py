"""The systems that runs train and test: a module for each kind of method."""
