#!/usr/bin/env bash
# Makes in .release what a package holds beside the binary: the manual, the
# completions, the changelog, and the licences of the modules that are linked in.
# The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/../.."

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C

out=$PWD/.release
rm -rf "$out"
mkdir -p "$out/man1.gz"
go test ./cmd/bourse -run TestManuals_EveryCommandHasAPage -count 1 -manuals "$out"
for page in "$out"/man1/*.1; do
  gzip -9n <"$page" >"$out/man1.gz/${page##*/}.gz"
done
gzip -9n <CHANGELOG.md >"$out/changelog.gz"

# Modules of any platform that a release is built for.
modules=$(for os in linux darwin; do
  GOOS=$os CGO_ENABLED=0 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/bourse
done | sort -u)
while read -r path version dir; do
  found=
  for file in "$dir"/LICEN[CS]E* "$dir"/COPYING* "$dir"/NOTICE*; do
    [ -f "$file" ] || continue
    found=1
    printf '=== %s %s: %s\n\n' "$path" "$version" "${file##*/}"
    cat "$file"
    printf '\n'
  done
  if [ -z "$found" ]; then
    echo "prepare: $path $version has no licence file" >&2
    exit 1
  fi
done <<<"$modules" >"$out/THIRD_PARTY_LICENSES"
printf '=== Go: LICENSE\n\n' >>"$out/THIRD_PARTY_LICENSES"
cat "$(go env GOROOT)/LICENSE" >>"$out/THIRD_PARTY_LICENSES"
chmod -R u=rwX,go=rX "$out"
