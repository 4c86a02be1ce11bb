#!/bin/sh
# Made the files of 22.05 and 26.05: six nodes site1n[1-6] of 4 CPUs; partition batch
# of all of them with OverSubscribe=EXCLUSIVE, wide of 1 to 4, deep of 5 and 6; users
# bholder, ana_vo1 and ben_vo1; run as root, who is SlurmUser. The nodes' host was
# named localhost afterwards.
#
#   sh scene.sh FOLDER
set -e
export SLURM_TIME_FORMAT=%s TZ=UTC LC_ALL=C
folder=$1
mkdir -p "$folder"
cd /tmp
now=$(date +%s)
work() { user=$1; shift; sbatch --parsable --uid="$user" -o /dev/null "$@"; }

scontrol update NodeName=site1n5 State=DRAIN Reason=disk
scontrol update NodeName=site1n1 Features=ssd,ib
scontrol update NodeName=site1n2 Features=ssd,ib
work ana_vo1 -p wide -N2 --exclusive -t 30 -J cfd --wrap "sleep 900"
work ben_vo1 -p wide -n1 -J "shared one" -t 20 --wrap "sleep 900"
work ben_vo1 -p deep -N1 --exclusive -t 1 -J fails --wrap "exit 3"
sleep 3
work ben_vo1 -p wide -N4 --exclusive -t 600 -J big --wrap "sleep 9"
work ben_vo1 -p wide -H -N1 -t 5 -J held --wrap "sleep 9"
work ana_vo1 -p wide -N1 -t 5 -a 1-3 -J many --begin=now+2hours --wrap "sleep 9"
work ana_vo1 -p wide -N1 -J endless -t UNLIMITED --wrap "sleep 9"
scontrol create reservation ReservationName=bourse.0a1b StartTime=uts$((now + 3600)) EndTime=uts$((now + 7200)) \
  Nodes=site1n3,site1n4 Users=bholder Flags=PURGE_COMP=00:05:00
scontrol create reservation ReservationName=maint StartTime=uts$((now + 86400)) EndTime=uts$((now + 90000)) Nodes=ALL Users=root Flags=MAINT
scontrol create reservation ReservationName=bourse.2c3d StartTime=uts$((now + 7200)) EndTime=uts$((now + 9000)) \
  Nodes=site1n1 Users=bholder Flags=PURGE_COMP=00:05:00
scontrol update ReservationName=bourse.2c3d Users=ana_vo1 Flags-=PURGE_COMP
work ana_vo1 -p wide --reservation=bourse.2c3d --begin=uts$((now + 7200)) -N1 --time=29 -J bourse.2c3d --wrap "sleep 9"
scancel "$(work ana_vo1 -p wide -N1 -t 5 -J gone --wrap "sleep 9")"
sleep 4

squeue --all --states=all --json >"$folder/squeue.json"
sinfo --all -N --json >"$folder/sinfo.json"
scontrol show res -o >"$folder/reservations.txt"
for job in 1 3 4 6 9; do scontrol show job -o $job; done >"$folder/jobs.txt"
