#!/usr/bin/env bash
# Builds the sandbox's shell, servers/sandbox/guest/shell/shell.js, from its sources and the packages in its package.json.
#
#   scripts/build_shell.sh [OUT]     OUT: where to write, instead of shell.js itself
#
# Needs Node 20 and npm. The same sources give the same bytes; their sha256 is printed and belongs in BUNDLE.md.
set -euo pipefail

shell=$(cd "$(dirname "${BASH_SOURCE[0]}")/../servers/sandbox/guest/shell" && pwd)
out=${1:-$shell/shell.js}
packages=$(mktemp -d)
trap 'rm -rf "$packages"' EXIT

cp "$shell/package.json" "$packages/"
npm install --prefix "$packages" --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error
node "$shell/build.mjs" "$packages" "$out"
node -e 'const {createHash} = require("node:crypto"); const {readFileSync} = require("node:fs");
console.log(createHash("sha256").update(readFileSync(process.argv[1])).digest("hex"))' "$out"
