"""`python -m feedback_ledger` is the console script `feedback-ledger`."""

from feedback_ledger.entry import main

main()
