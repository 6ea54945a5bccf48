"""Neural models that are trained from their word vectors on: CBOW, CNN and BiLSTM."""
