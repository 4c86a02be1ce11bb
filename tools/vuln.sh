#!/usr/bin/env bash
# Looks for known vulnerabilities in what the code calls, also in other modules and in
# Go itself. A finding fails. Where the database is out of reach it says so and passes:
# checks have to run without a network. GOVULNDB names another database, as
# file:///a/copy/of/it.
#
#   tools/vuln.sh [PACKAGE...]    default: ./...
#   tools/vuln.sh --reaches       whether the database can be reached: exit 0 or 1
#   tools/vuln.sh --table         writes what is known of each module into docs/DEPENDENCIES.md
set -euo pipefail
cd "$(dirname "$0")/.."

database=${GOVULNDB:-https://vuln.go.dev}
reaches() {
  case $database in
  file://*) [ -f "${database#file://}/index/db.json" ] ;;
  *) command -v curl >/dev/null && curl --silent --fail --max-time 5 --output /dev/null "$database/index/db.json" ;;
  esac
}
scan() { go tool -modfile=tools/go.mod govulncheck -db "$database" "$@"; }

case ${1:-} in
--reaches) if reaches; then exit 0; else exit 1; fi ;;
--table)
  reaches || {
    echo "vuln: $database cannot be reached; set GOVULNDB to a copy of it" >&2
    exit 1
  }
  found=$(mktemp -d)
  trap 'rm -rf "$found"' EXIT
  scan -format json -scan module >"$found/scan.json"
  case $database in
  file://*) cp "${database#file://}/index/modules.json" "$found" ;;
  *) curl --silent --fail --max-time 60 --output "$found/modules.json" "$database/index/modules.json" ;;
  esac
  go test ./tree -run TestDependencies -count 1 -advisories "$found"
  ;;
*)
  reaches || {
    echo "vuln: NOT LOOKED FOR: $database cannot be reached. docs/DEPENDENCIES.md says when somebody last looked, and at what" >&2
    exit 0
  }
  scan "${@:-./...}"
  ;;
esac
