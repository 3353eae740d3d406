#!/usr/bin/env python3
"""The engine's command line, for those who work from a clone: `python build_ledger.py --help`."""

import sys

from feedback_ledger.entry import main

if __name__ == "__main__":
    sys.exit(main())
