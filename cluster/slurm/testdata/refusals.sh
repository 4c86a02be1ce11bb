#!/bin/sh
# Made refusals.txt of 22.05 and 26.05: what Slurm's commands say when they do not do
# what they should. As root, who is SlurmUser, on a cluster of clusters.sh with three
# nodes; then again with the word down, its controller killed.
#
#   sh refusals.sh [down] >>refusals.txt
export SLURM_TIME_FORMAT=%s TZ=UTC LC_ALL=C
cd /
now=$(date +%s)
hour="StartTime=uts$((now + 3600)) EndTime=uts$((now + 7200))"
soon="StartTime=uts$((now + 60)) EndTime=uts$((now + 600))"
create() { echo scontrol create reservation "ReservationName=$1" "$2" "Nodes=$3" "Users=$4" Flags=PURGE_COMP=00:05:00; }
# try LABEL COMMAND...: what it is called, what it says, its exit status
try() {
  echo "# $1"
  shift
  "$@" 2>&1
  echo "= $?"
}
asuser() { setpriv --reuid=news --regid=news --clear-groups "$@"; }

if [ "${1:-}" = down ]; then
  try down-create $(create d "$hour" c1n3 mail)
  try down-update scontrol update ReservationName=r Users=games
  try down-delete scontrol delete ReservationName=r
  try down-show scontrol show reservation r -o
  try down-submit sbatch --output=/dev/null --wrap=true
  try down-cancel scancel --name=x 1
  try down-list squeue --noheader --name=x
  exit
fi

first=$(sbatch --parsable --nodelist=c1n1 --exclusive --time=30 --output=/dev/null --wrap="sleep 600")
$(create r "$hour" c1n2 mail) >/dev/null
$(create used "$hour" c1n3 games) >/dev/null
second=$(sbatch --parsable --uid=games --gid=games --reservation=used --begin=now+1hour --time=5 --output=/dev/null --wrap=true)
sleep 4
try duplicate $(create r "$hour" c1n1 mail)
try overlaps $(create e "$hour" c1n2 mail)
try busy $(create e "$soon" c1n1 mail)
try no-node $(create e "$hour" c1n99 mail)
try no-user $(create e "$hour" c1n1 no-such-user)
try backwards $(create e "StartTime=uts$((now + 600)) EndTime=uts$((now + 60))" c1n1 mail)
try update-missing scontrol update ReservationName=e Users=games
try update-no-user scontrol update ReservationName=r Users=no-such-user
try delete-missing scontrol delete ReservationName=e
try delete-in-use scontrol delete ReservationName=used
try show-missing scontrol show reservation e -o
try show-no-job scontrol show job 99999
try submit-not-for sbatch --uid=games --gid=games --reservation=r --output=/dev/null --wrap=true
try submit-missing sbatch --uid=games --gid=games --reservation=e --output=/dev/null --wrap=true
try submit-no-partition sbatch --partition=no-such --output=/dev/null --wrap=true
try no-accounts sacct -S now-1hour
try rights-create asuser $(create e "$hour" c1n1 news)
try rights-update asuser scontrol update ReservationName=r Users=news
try rights-delete asuser scontrol delete ReservationName=r
try rights-cancel asuser scancel "$first"
try rights-submit asuser sbatch --uid=games --output=/dev/null --wrap=true
scancel "$first" "$second"
scontrol delete ReservationName=r
scontrol delete ReservationName=used
