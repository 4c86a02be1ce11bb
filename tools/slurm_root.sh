#!/usr/bin/env bash
# The tests against real Slurm clusters in another root: a folder with another release
# of the system, such as debootstrap makes, that has slurmctld, slurmd, slurm-client and
# munge, with /proc and /dev mounted. LONG=1 has a federation over two of its clusters too.
#
#   tools/slurm_root.sh ROOT [FLAGS OF GO TEST'S BINARY]
set -euo pipefail
cd "$(dirname "$0")/.."
root=${1:?root}
shift
[ -x "$root/usr/bin/squeue" ] || { echo "no Slurm in $root" >&2; exit 1; }
[ -e "$root/proc/self" ] && [ -e "$root/dev/urandom" ] || { echo "$root needs /proc and /dev: mount --bind" >&2; exit 1; }
dir=$(mktemp -d "$root/var/tmp/bourse-slurm-XXXXXX")
trap 'rm -rf "$dir"' EXIT

try() { # PACKAGE TESTS [FLAGS]: in a folder that lies to the others as the package does
  local package=$1 tests=$2
  shift 2
  mkdir -p "$dir/$package"
  CGO_ENABLED=0 go test -c -o "$dir/$package/slurm.test" "./$package"
  cp -r "$package/testdata" "$dir/$package/"
  chroot "$root" sh -c 'cd "$1" && t=$2 && shift 2 && BOURSE_SLURM=1 exec ./slurm.test -test.run "$t" "$@"' sh "${dir#"$root"}/$package" "$tests" "$@"
}

chmod 755 "$dir"
chroot "$root" sh -c 'for p in slurmctld-wlm slurmctld; do command -v $p >/dev/null && exec $p -V; done'
try cluster/slurm TestReal "$@"
[ -z "${LONG:-}" ] || try cmd/bourse 'TestSlurm_(AJob|ASite|PartsOfANode)' "$@"
