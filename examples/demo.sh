#!/bin/sh
# Runs the example in a copy of its own, so that it can be run again and again.
set -eu
segue=${1:-segue}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/segue-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -R "$here/night/." "$work"
cd "$work"
echo "\$ segue plan PLAN.md"
"$segue" plan PLAN.md
echo
echo "\$ segue run PLAN.md"
"$segue" run PLAN.md
echo
echo "The plan is a file; its marks say what is done:"
grep '^- \[' PLAN.md
