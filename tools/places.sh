#!/usr/bin/env bash
# Counts the places that know a thing: in how many files of the product, tests
# and generated code left out, an exported name stands. It is the measure of this
# house: the fewer, the easier a thing like it is added.
#
#	tools/places.sh            messages, facts and leg fields, with their medians
#	tools/places.sh NAME...    the files of each name, of whatever package
#	tools/places.sh --folds    the files that interpret ten or more kinds of facts
set -euo pipefail
cd "$(dirname "$0")/.."

product() { git ls-files '*.go' '*.proto' | grep -vE '_test\.go$|\.pb\.go$|/bugs/'; }
product=$(product)

# declared lists the exported names of all packages: folder, package, name, and "in" for a
# field or a method, which stands behind a value and not behind its package.
declared=$(grep '\.go$' <<<"$product" | xargs awk '
  function put(name, what) { if (name ~ /^[A-Z]/) print dir, pkg, name, what }
  FNR == 1 { dir = FILENAME; if (!sub(/\/[^\/]*$/, "", dir)) dir = "."; block = ""; type = 0 }
  /^package / { pkg = $2 }
  /^(const|var|type) \($/ { block = $1; next }
  /^\)/ { block = "" }
  /^func \(/ { name = $0; sub(/^func \([^)]*\) */, "", name); sub(/[^A-Za-z0-9_].*/, "", name); put(name, "in"); next }
  /^(func|const|var|type) [A-Z]/ { name = $2; sub(/[^A-Za-z0-9_].*/, "", name); put(name, "top"); type = $0 ~ /^type .*(struct|interface) *{$/; next }
  /^(func|const|var|type) / { type = $0 ~ /^type .*(struct|interface) *{$/; next }
  /^}/ { type = 0 }
  block != "" && /^\t[A-Za-z_]/ { list(block); next }
  (block == "type" && /^\t\t[A-Z]/) || (type && /^\t[A-Z]/) { list("in") }
  function list(how,   words, n, i, s) {
    s = $0
    sub(/^\t+/, "", s)
    match(s, /^[A-Za-z0-9_]+(, [A-Za-z0-9_]+)*/)
    n = split(substr(s, 1, RLENGTH), words, ", ")
    for (i = 1; i <= n; i++) put(words[i], how == "in" ? "in" : "top")
  }' | sort -u)

# files NAME: where it stands in a package that declares it, behind the package's name, or
# behind a dot if it is a field or a method; and, of a message, in its wire format.
files() {
  local dirs pkgs
  dirs=$(awk -v n="$1" '$3 == n {print $1}' <<<"$declared" | sort -u)
  [ -n "$dirs" ] || return 0
  pkgs=$(awk -v n="$1" '$3 == n {print $4 == "in" ? "" : $2}' <<<"$declared" | sort -u | paste -sd'|')
  {
    grep '\.go$' <<<"$product" | if [[ "|$pkgs|" == *"||"* ]]; then xargs grep -lE -- "\.$1\b"; else xargs grep -lE -- "\b($pkgs)\.$1\b"; fi
    while read -r dir; do
      grep -E "^${dir/#./\\.}/[^/]+\.go$" <<<"$product" | xargs -r grep -lw -- "$1"
    done <<<"$dirs"
    if grep -q '^agents$' <<<"$dirs"; then grep '\.proto$' <<<"$product" | xargs -r grep -lw -- "$1"; fi
  } | sort -u || true
}

if [ "${1:-}" = --folds ]; then
  go test -count=1 -v -run 'TestFolds_AreFew' ./tree | awk '/folds_test.go.* [0-9]+ [a-z\/_]+\.go$/ {sub(/^.*go:[0-9]+: */, ""); n++; print}
    END {print n " files interpret ten or more kinds of facts"}'
  exit 0
fi
if [ $# -gt 0 ]; then
  for name in "$@"; do
    list=$(files "$name")
    if [ -z "$list" ]; then
      echo "$name: no package declares it" >&2
      exit 1
    fi
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

kinds() { grep -hoE '^func \([A-Za-z ]+\) +Kind\(\) string' "$@" | sed -E 's/^func \(([a-z]+ )?([A-Za-z]+)\).*/\2/' | sort -u; }

table "messages" $(kinds agents/*_messages.go)
table "facts" $(kinds facts/*.go)
table "leg states" Prepared LegExpired Heuristic Released
echo "lines of product code: $(xargs cat <<<"$product" | wc -l)"
