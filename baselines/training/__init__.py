"""Training that any model of padded token ids shares: batches, the loop, predictions."""
