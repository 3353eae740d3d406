"""Warm sandboxes in worker processes, for code that nobody has looked at. No protocol in here."""
