#!/usr/bin/env bash
# Prints numbers that say how large and how even this house is, of the tree as it
# stands or of an earlier commit:
#
#	tools/numbers.sh [REV]
#
# Sizes by tree/size_test.go, and in how many files messages and facts stand by
# tools/places.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$PWD
if [ $# -gt 0 ]; then
  work=$(mktemp -d)
  trap 'git worktree remove --force "$work/tree"; rm -rf "$work"' EXIT
  git worktree add --quiet --detach "$work/tree" "$1"
  dir=$work/tree
fi
go test ./tree -count=1 -run '^TestNumbers$' -numbers "$dir" | grep -vE '^(ok|PASS)'
[ ! -x "$dir/tools/places.sh" ] || "$dir/tools/places.sh"
