#!/usr/bin/env bash
# Real Slurm clusters on this machine, for tests: each is one slurmctld and some
# slurmd, on loopback, without systemd, cgroups or accounting. As root work runs as
# its users, as anybody else only as oneself. Needs Debian's slurmctld, slurmd,
# slurm-client and munge.
#
#   clusters.sh start DIR [CLUSTERS [NODES]]  prints the slurm.conf of each, once all nodes are up
#   clusters.sh kill DIR CLUSTER [NODE]       kill -9 of its slurmctld, or of a node's slurmd
#   clusters.sh resume DIR CLUSTER [NODE]     starts that again, from what it has saved
#   clusters.sh stop DIR                      ends all that start has started
#
# DIR must be short (sockets) and, as root, be open to other accounts. SLURM_EXTRA is
# added to each slurm.conf, NODE_CPUS=N and NODE_GPUS=N are those of a node, SLURM_LANE=N gives every N nodes a feature of their
# own, lane1 and so on. The first port that is free from SLURM_PORT on is taken.
# Jobs that have ended are listed in DIR/cCLUSTER/log/jobs.
set -u -o pipefail

DIR=${2:?folder}
die() { echo "clusters.sh: $*" >&2; exit 1; }
program() { # Debian has it as NAME-wlm, by which name a daemon does not know that it is one, and reads no Gres
  local p
  for p in "/usr/sbin/$1-wlm" "/usr/sbin/$1"; do
    [ -x "$p" ] || continue
    mkdir -p "$DIR/bin" && ln -sfn "$p" "$DIR/bin/$1" && echo "$DIR/bin/$1" && return
  done
  die "$1 is not installed"
}
alive() { # PIDFILE PROGRAM: prints the pid if it is of that program
  local p
  p=$(cat "$1" 2>/dev/null) && [ -n "$p" ] && [[ $(cat "/proc/$p/comm" 2>/dev/null) == "$2"* ]] || return 1
  grep -q '^State:.*Z' "/proc/$p/status" && return 1
  echo "$p"
}
end() { # PIDFILE PROGRAM SIGNAL
  local p i
  p=$(alive "$1" "$2") || return 0
  kill "-$3" "$p"
  for ((i = 0; i < 200; i++)); do alive "$1" "$2" >/dev/null || return 0; sleep 0.05; done
  kill -KILL "$p"
}
busy() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

configure() { # CLUSTER NODES PORT
  local d=$DIR/c$1 major
  mkdir -p "$d"/{state,spool,log,pid}
  for ((j = 1; j <= $2; j++)); do mkdir -p "$d/spool/c$1n$j"; done
  major=$("$(program slurmctld)" -V | sed -E 's/^[^0-9]*([0-9]+)\..*/\1/')
  [ "$major" -lt 23 ] || echo "CgroupPlugin=disabled" >"$d/cgroup.conf"
  if [ -n "${NODE_GPUS:-}" ]; then # each needs a file
    for ((j = 0; j < NODE_GPUS; j++)); do : >"$d/gpu$j"; done
    echo "Name=gpu File=$d/gpu[0-$((NODE_GPUS - 1))]" >"$d/gres.conf"
  fi
  cat >"$d/slurm.conf" <<CONF
ClusterName=c$1
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$3
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$DIR/munge/socket
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool/%n
SlurmctldPidFile=$d/pid/slurmctld
SlurmdPidFile=$d/pid/%n
SlurmctldLogFile=$d/log/slurmctld
SlurmdLogFile=$d/log/%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$d/log/jobs
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,bf_resolution=1,bf_continue,sched_interval=2,sched_min_interval=0
PriorityType=priority/basic
ReturnToService=2
SlurmdTimeout=30
MinJobAge=600
KillWait=2
MessageTimeout=5
${NODE_GPUS:+GresTypes=gpu}
$(lanes "$@")
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=1 State=UP
${SLURM_EXTRA:-}
CONF
}

lanes() { # CLUSTER NODES PORT: the lines of the nodes
  local from to lane=0 by=${SLURM_LANE:-$2} feature= gres=${NODE_GPUS:+ Gres=gpu:$NODE_GPUS}
  for ((from = 1; from <= $2; from += by)); do
    to=$((from + by - 1 < $2 ? from + by - 1 : $2)) lane=$((lane + 1))
    [ "$by" = "$2" ] || feature=" Feature=lane$lane"
    echo "NodeName=c$1n[$from-$to] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$(($3 + from))-$(($3 + to))] CPUs=${NODE_CPUS:-2} RealMemory=100$gres$feature State=UNKNOWN"
  done
}

controller() { # CLUSTER [-c]
  TZ=UTC SLURM_CONF=$DIR/c$1/slurm.conf "$(program slurmctld)" ${2:-} </dev/null >"$DIR/c$1/log/start" 2>&1 || die "slurmctld: $(tail -n 3 "$DIR/c$1/log/start")"
}

node() { # CLUSTER NODE
  SLURM_CONF=$DIR/c$1/slurm.conf "$(program slurmd)" -N "c$1n$2" </dev/null >"$DIR/c$1/log/start-$2" 2>&1 || die "slurmd: $(tail -n 3 "$DIR/c$1/log/start-$2")"
}

ready() { # CLUSTER: all nodes are up
  local i d=$DIR/c$1 want
  want=$(ls "$d/spool" | wc -l)
  for ((i = 0; i < 300; i++)); do
    [ "$(SLURM_CONF=$d/slurm.conf timeout 5 sinfo -h -p batch -N -o %T 2>/dev/null | grep -cvE 'down|unk|\*')" = "$want" ] && return
    sleep 0.1
  done
  die "the nodes of cluster $1 are not up: $(tail -n 5 "$d/log/slurmctld")"
}

start() {
  local clusters=${1:-1} nodes=${2:-3} port=${SLURM_PORT:-21000} i j m=$DIR/munge
  mkdir -p "$m" && chmod 711 "$m"
  (umask 077 && head -c 128 /dev/urandom >"$m/key")
  "$(program munged)" --key-file="$m/key" --socket="$m/socket" --pid-file="$m/pid" --log-file="$m/log" --seed-file="$m/seed" 2>"$m/start" ||
    die "munged: $(tail -n 2 "$m/start")"
  for ((i = 1; i <= clusters; i++)); do
    for ((; port < 32000; port += 100)); do
      for ((j = 0; j <= nodes; j++)); do busy $((port + j)) && continue 2; done
      break
    done
    configure "$i" "$nodes" "$port"
    controller "$i" -c
    for ((j = 0; j < 100; j++)); do busy "$port" && break; sleep 0.05; done # a slurmd that finds none waits for seconds
    for ((j = 1; j <= nodes; j++)); do node "$i" "$j"; done
    port=$((port + 100))
  done
  for ((i = 1; i <= clusters; i++)); do ready "$i"; echo "$DIR/c$i/slurm.conf"; done
}

stop() {
  local d f i
  for d in "$DIR"/c*/; do # no slurmstepd must outlive us
    export SLURM_CONF=$d/slurm.conf
    alive "$d/pid/slurmctld" slurmctld >/dev/null || continue
    timeout 5 squeue -h -o %A 2>/dev/null | timeout 10 xargs -r scancel -Q 2>/dev/null
    for ((i = 0; i < 80; i++)); do [ -z "$(timeout 2 squeue -h -t R,CG -o %A 2>/dev/null)" ] && break; sleep 0.1; done
  done
  for f in "$DIR"/c*/pid/*; do
    case $f in
    */slurmctld) end "$f" slurmctld TERM & ;;
    *) [ -e "$f" ] && end "$f" slurmd TERM & ;;
    esac
  done
  wait
  end "$DIR/munge/pid" munged TERM
}

case ${1:-} in
start) start "${3:-1}" "${4:-3}" ;;
kill)
  if [ -n "${4:-}" ]; then end "$DIR/c$3/pid/c$3n$4" slurmd KILL; else end "$DIR/c${3:?cluster}/pid/slurmctld" slurmctld KILL; fi ;;
resume)
  if [ -n "${4:-}" ]; then node "$3" "$4"; else controller "${3:?cluster}" && ready "$3"; fi ;;
stop) stop ;;
*) sed -n "2,16p" "$0"; exit 2 ;;
esac
