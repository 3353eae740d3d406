#!/bin/sh
# The steps of .github/workflows/ledger.yml, for any machine: `scripts/ci_ledger.sh pull-request` checks the findings on
# the releases that the settings test, `scripts/ci_ledger.sh nightly` on the newest published ones.
#
# LEDGER_ROOT names another ledger than this repository's; LEDGER_PYTHON an interpreter that has the engine already,
# in place of the one that `make setup` makes.
set -eu
repository=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

case "$#:${1-}" in
1:pull-request) set -- ;;
1:nightly) set -- --latest ;;
*)
    echo "usage: scripts/ci_ledger.sh pull-request|nightly" >&2
    exit 2
    ;;
esac

if [ -z "${LEDGER_PYTHON-}" ]; then
    make --directory "$repository" --silent setup >&2
    LEDGER_PYTHON=$repository/.venv/bin/python
fi
exec "$LEDGER_PYTHON" -m feedback_ledger --root "${LEDGER_ROOT:-$repository}" check --format github "$@"
