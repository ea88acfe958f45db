#!/bin/sh
# Develops the example's feature in a copy of its own, so that it can be run again and again.
set -eu
segue=${1:-segue}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/segue-demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
cp -R "$here/feature/." "$work"
cd "$work"
export PYTHONDONTWRITEBYTECODE=1
if command -v git >/dev/null; then # with git each checkpoint gets a worktree of its own
  git -c init.defaultBranch=main init -q .
  git add -A
  git -c user.name=Demo -c user.email=demo@localhost -c commit.gpgsign=false commit -q -m start
fi
echo "\$ segue develop \"say hello in Korean\""
"$segue" develop "say hello in Korean"
echo
echo "\$ cat .develop-workflow/state.yaml"
cat .develop-workflow/state.yaml
echo
echo "\$ python3 hello.py --lang ko Segue"
python3 hello.py --lang ko Segue
