"""A ledger of findings about other people's software, kept true by running their reproducers."""

__version__ = "0.1.0"
