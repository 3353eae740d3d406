#!/bin/sh
# Deploys the echo server to Wasmer Edge: scripts/deploy.sh [--dry-run]
#
# What is deployed is the last commit, and of that only what the server needs, as a push would have it: anybuild copies
# whatever is in the folder that it is given. --dry-run stops when the stage is made, and prints it.
#
# WASMER_BIN and ANYBUILD_BIN name other programs than `wasmer` and `anybuild`; WASMER_OWNER the owner of the app;
# DEPLOY_PYTHON another Python, 3.11 or later, than .venv's or python3.
set -eu

say() { echo "deploy: $*"; }
die() {
    echo "deploy: $*" >&2
    exit 2
}

dry_run=no
case "$#:${1-}" in
0:) ;;
1:--dry-run) dry_run=yes ;;
*) die "usage: scripts/deploy.sh [--dry-run]" ;;
esac

cd "$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)"
wasmer=${WASMER_BIN:-wasmer}
anybuild=${ANYBUILD_BIN:-anybuild}
python=${DEPLOY_PYTHON:-}
[ -n "$python" ] || { [ -x .venv/bin/python ] && python=.venv/bin/python; } || python=python3
set -- main.py app.yaml Anybuild servers/__init__.py servers/refusal.py servers/toolserver.py servers/workarounds.py \
    servers/edge ':(exclude)*.md'

if [ "$dry_run" = no ]; then
    say "looking at the programs"
    command -v "$anybuild" >/dev/null || die "there is no $anybuild; install it, or say ANYBUILD_BIN=/path/to/anybuild"
    command -v "$wasmer" >/dev/null || die "there is no $wasmer; install it, or say WASMER_BIN=/path/to/wasmer"
    version=$("$wasmer" --version | sed -n 's/^wasmer \([0-9][0-9]*\)\..*/\1/p')
    [ "${version:-0}" -ge 7 ] || die "$wasmer is $("$wasmer" --version), and 7 or later is needed: older ones fail to upload"
fi

changed=$(git status --porcelain --untracked-files=no -- "$@" 2>/dev/null) ||
    die "this is no git repository; only a commit is deployed"
[ -z "$changed" ] || die "only a commit is deployed, and these are not committed:
$changed"
"$python" -c 'import tomllib' 2>/dev/null || die "$python is no Python 3.11 or later; say DEPLOY_PYTHON=/path/to/python"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' INT TERM HUP
say "staging $(git rev-parse --short HEAD)"
git archive --format=tar HEAD -- "$@" | tar -xf - -C "$stage"
"$python" - >"$stage/requirements.txt" <<'PYTHON'
import tomllib

with open("pyproject.toml", "rb") as file:
    print(*tomllib.load(file)["project"]["optional-dependencies"]["edge"], sep="\n")
PYTHON

if [ "$dry_run" = yes ]; then
    (cd "$stage" && find . -type f | LC_ALL=C sort | sed 's,^\./,,')
    exit 0
fi

say "building"
"$anybuild" build "$stage" --runner=wasmer --wasmer-bin "$wasmer"
say "deploying"
"$anybuild" deploy "$stage" --platform=wasmer --wasmer-bin "$wasmer" ${WASMER_OWNER:+--wasmer-app-owner "$WASMER_OWNER"}
say "done; secrets are set with: $wasmer app secrets create JOBS_TOKEN ..."
