#!/bin/sh
# Install the programs that are named and missing, with the system's own packages.
set -eu
missing=""
for name in "$@"; do
  others=""
  [ "$name" != chromium ] || others="chromium-browser google-chrome"
  found=""
  for each in $name $others; do
    if command -v "$each" >/dev/null 2>&1; then found="$each"; fi
  done
  package="$name"
  [ "$name" != bwrap ] || package="bubblewrap"
  [ -n "$found" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "Installing$missing …"
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo -n"
if command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  $as_root apt-get update -qq
  # shellcheck disable=SC2086 - a list of names
  $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
  echo "Please install:$missing (the tests need it)" >&2
  exit 1
fi
