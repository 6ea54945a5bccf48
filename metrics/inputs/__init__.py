"""Inputs of metrics: columns, labels, groups, probabilities and thresholds, validated."""
