"""The papers' procedures, each as something anyone can run on material of their own."""
