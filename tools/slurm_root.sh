#!/usr/bin/env bash
# The tests against real Slurm clusters in another root: a folder with another release
# of the system, such as debootstrap makes, that has slurmctld, slurmd, slurm-client and
# munge, with /proc and /dev mounted.
#
#   tools/slurm_root.sh ROOT [FLAGS OF GO TEST'S BINARY]
set -euo pipefail
cd "$(dirname "$0")/../cluster/slurm"
root=${1:?root}
shift
[ -x "$root/usr/bin/squeue" ] || { echo "no Slurm in $root" >&2; exit 1; }
[ -e "$root/proc/self" ] && [ -e "$root/dev/urandom" ] || { echo "$root needs /proc and /dev: mount --bind" >&2; exit 1; }
dir=$(mktemp -d "$root/var/tmp/bourse-slurm-XXXXXX")
trap 'rm -rf "$dir"' EXIT
CGO_ENABLED=0 go test -c -o "$dir/slurm.test" .
cp -r testdata "$dir/"
chroot "$root" sh -c 'for p in slurmctld-wlm slurmctld; do command -v $p >/dev/null && exec $p -V; done'
chroot "$root" sh -c 'cd "$1" && shift && BOURSE_SLURM=1 exec ./slurm.test -test.run TestReal "$@"' sh "${dir#"$root"}" "$@"
