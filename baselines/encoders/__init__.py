"""Pretrained encoders: fine-tuned, or as they are."""
