"""Servers that the ledger starts as fixtures."""
