"""`python -m feedback_ledger` is the console script `feedback-ledger`."""

import sys

from feedback_ledger.entry import main

sys.exit(main())
