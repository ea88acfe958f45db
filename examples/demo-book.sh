#!/bin/sh
# Writes the example's book in a copy of its own, so that it can be run again and again.
set -eu
segue=${1:-segue}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/segue-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -R "$here/book/." "$work"
cd "$work"
echo "\$ segue write-all"
"$segue" write-all
echo
echo "\$ segue resume --status"
"$segue" resume --status
echo
echo "\$ cat meta/wisdom/judge.md"
cat meta/wisdom/judge.md
echo
echo "\$ cat chapters/chapter_4.md"
cat chapters/chapter_4.md
