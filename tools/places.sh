#!/usr/bin/env bash
# Counts the places that know a thing: in how many files of the product, tests
# and generated code left out, a name stands. It is the measure of this house:
# the fewer, the easier a thing like it is added.
#
#	tools/places.sh            messages, facts and leg fields, with their medians
#	tools/places.sh NAME...    the files of each name
set -euo pipefail
cd "$(dirname "$0")/.."

product() { git ls-files '*.go' '*.proto' | grep -vE '_test\.go$|\.pb\.go$'; }

# files NAME: where it stands behind its package's name, or in its own package.
files() {
  {
    product | xargs grep -lE -- "\b(agents|grid|facts|wire)\.$1\b"
    git ls-files '*.go' '*.proto' | grep -E '^(grid|facts|agents)/[a-z_]+\.go$|^agents/wire/' |
      grep -vE '_test\.go$|\.pb\.go$' | xargs grep -lw -- "$1"
  } | sort -u || true
}

if [ $# -gt 0 ]; then
  for name in "$@"; do
    list=$(files "$name")
    echo "$name: $(grep -c . <<<"$list" || true) files"
    sed 's/^/  /' <<<"$list"
  done
  exit 0
fi

# table TITLE NAMES...: each name with its number of files, and the median.
table() {
  local title=$1
  shift
  echo "$title"
  for name in "$@"; do
    printf '%5d  %s\n' "$(files "$name" | grep -c . || true)" "$name"
  done | sort -rn | awk '{print; n[NR] = $1} END {printf "%5d  (median of %d)\n\n", n[int((NR + 1) / 2)], NR}'
}

kinds() { grep -hoE '^func \([A-Za-z]+\) +Kind\(\) string' "$@" | sed -E 's/^func \(([A-Za-z]+)\).*/\1/' | sort -u; }

table "messages" $(kinds agents/*_messages.go)
table "facts" $(kinds facts/*.go)
table "leg states" Prepared LegExpired Heuristic Released
echo "lines of product code: $(product | xargs cat | wc -l)"
