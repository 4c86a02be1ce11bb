#!/usr/bin/env bash
# Two real Slurm clusters on one laptop, and a federation that sells windows over both.
# For trying it out: everything is in one folder, on loopback, without systemd.
#
#   sudo apt install slurmctld slurmd slurm-client munge      # what it takes, on plain Debian
#   sudo apt install slurmdbd slurm-wlm-mysql-plugin mariadb-server   # for sacct, if you like
#   (say "systemctl disable --now" to what these packages start; the script needs none of it)
#
#   two-slurms.sh start     the clusters, the accounting if it is installed, the federation
#   two-slurms.sh try       one job over both clusters, and what Slurm and Bourse say of it
#   two-slurms.sh shell     a shell in which bourse, squeue and sacct find all of it
#   two-slurms.sh stop      ends what start has started, and nothing else
#
# As root, work runs as the account $WORK (games). As anybody else, all of it is yours.
# $BOURSE is the program (bourse), $TWO the folder (/tmp/two-slurms), $PORT the first port.
set -euo pipefail

BOURSE=${BOURSE:-bourse} TWO=${TWO:-/tmp/two-slurms} PORT=${PORT:-26000} NODES=4
ME=$(id -un) WORK=${WORK:-$([ "$(id -u)" = 0 ] && echo games || id -un)}
CLUSTERS="north south"
export PATH=$PATH:/usr/sbin:/sbin
say() { echo "two-slurms: $*" >&2; }
die() { say "$*"; exit 1; }
port() { # of a cluster's controller
  [ "$1" = north ] && echo $((PORT + 100)) || echo $((PORT + 200))
}
wait_for() { # WHAT COMMAND...: for a minute, or MOST fifths of a second
  local what=$1 i
  shift
  for ((i = 0; i < ${MOST:-300}; i++)); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done
  die "$what does not come; look at $TWO/log"
}
background() { # NAME COMMAND...: starts it, and notes its process
  local name=$1
  shift
  nohup "$@" </dev/null >"$TWO/log/$name" 2>&1 &
  echo $! >"$TWO/pid/$name"
}
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
accounting() { command -v slurmdbd >/dev/null && command -v mariadbd >/dev/null && command -v mariadb-install-db >/dev/null; }

# --- Slurm -------------------------------------------------------------------------------

# One munge for both clusters: it says on whose behalf a command speaks.
start_munge() {
  mkdir -p "$TWO/munge" && chmod 711 "$TWO/munge"
  (umask 077 && head -c 128 /dev/urandom >"$TWO/munge/key")
  background munged munged --foreground --key-file="$TWO/munge/key" --socket="$TWO/munge/socket" \
    --pid-file="$TWO/munge/pid" --log-file="$TWO/log/munge" --seed-file="$TWO/munge/seed"
  wait_for munge munge --socket="$TWO/munge/socket" --no-input
}

# The database and slurmdbd, which both controllers tell what has run.
start_accounting() {
  local sql="mariadb --socket=$TWO/db.sock --user=root"
  [ -d "$TWO/db/mysql" ] || mariadb-install-db --user="$ME" --datadir="$TWO/db" --auth-root-authentication-method=normal --skip-test-db >"$TWO/log/db-install" 2>&1
  background mariadb mariadbd --no-defaults --user="$ME" --datadir="$TWO/db" --socket="$TWO/db.sock" --skip-networking --pid-file="$TWO/db.pid" --innodb-buffer-pool-size=64M
  wait_for "the database" $sql -e 'select 1'
  $sql -e "create user if not exists slurm@localhost identified by 'only-here'; grant all on two_slurms.* to slurm@localhost"
  cat >"$TWO/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$TWO/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$((PORT + 90))
SlurmUser=$ME
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=only-here
StorageLoc=two_slurms
LogFile=$TWO/log/slurmdbd.log
PidFile=$TWO/slurmdbd.pid
CONF
  chmod 600 "$TWO/slurmdbd.conf"
  background slurmdbd env MYSQL_UNIX_PORT="$TWO/db.sock" SLURM_CONF="$TWO/slurmdbd.conf" slurmdbd -D
  wait_for slurmdbd listens $((PORT + 90))
}

configure() { # CLUSTER
  local d=$TWO/$1 p major storage="AccountingStorageType=accounting_storage/none"
  p=$(port "$1")
  mkdir -p "$d/state" && for ((j = 1; j <= NODES; j++)); do mkdir -p "$d/spool/$1$j"; done
  major=$(slurmctld -V | sed -E 's/^[^0-9]*([0-9]+)\..*/\1/')
  [ "$major" -lt 23 ] || echo "CgroupPlugin=disabled" >"$d/cgroup.conf"
  ! accounting || storage="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((PORT + 90))
AccountingStoragePass=$TWO/munge/socket"
  cat >"$d/slurm.conf" <<CONF
ClusterName=$1
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$p
SlurmUser=$ME
SlurmdUser=$ME
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$TWO/munge/socket
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool/%n
SlurmctldPidFile=$TWO/pid/slurmctld-$1
SlurmdPidFile=$TWO/pid/slurmd-%n
SlurmctldLogFile=$TWO/log/slurmctld-$1
SlurmdLogFile=$TWO/log/slurmd-%n
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
$storage
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,bf_resolution=1,bf_continue,sched_interval=2,sched_min_interval=0
ReturnToService=2
MinJobAge=600
KillWait=2
NodeName=$1[1-$NODES] NodeHostname=localhost NodeAddr=127.0.0.1 Port=[$((p + 1))-$((p + NODES))] CPUs=2 RealMemory=100 State=UNKNOWN
PartitionName=batch Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=1 State=UP
CONF
}

up() { [ "$(sinfo -h -N -o %T 2>/dev/null | grep -cxE 'idle|mixed|allocated|reserved|planned')" = "$NODES" ]; }

start_cluster() { # NAME
  local j
  export SLURM_CONF=$TWO/$1/slurm.conf
  if accounting; then # the cluster, an account for the VO, and the user whose work runs
    sacctmgr -iQ add cluster "$1" >/dev/null
    sacctmgr -iQ add account vo1 cluster="$1" description=vo organization=vo >/dev/null
    sacctmgr -iQ add user "$WORK" account=vo1 cluster="$1" >/dev/null
  fi
  slurmctld
  wait_for "the controller of $1" listens "$(port "$1")" # a slurmd that finds none waits for seconds
  for ((j = 1; j <= NODES; j++)); do slurmd -N "$1$j"; done
  wait_for "the nodes of $1" up
}

# --- Bourse ------------------------------------------------------------------------------

tables() { # ROLE NAME PORT: what all files of processes have
  cat <<CONF
[listen]
address = "127.0.0.1:$3"
[gossip]
address = "127.0.0.1:$(($3 + 1))"
vo = "vo1"
key = "ca/gossip.key"
profile = "fast"
seeds = ["127.0.0.1:$((PORT + 1))"]
[tls]
ca = "ca/ca.pem"
certificate = "ca/$1-$2.pem"
key = "ca/$1-$2.key"
revoked = "ca/revoked.txt"
[journal]
dir = "journal-$2"
[http]
address = "127.0.0.1:$(($3 + 2))"
CONF
}

issue() { "$BOURSE" ca issue --dir ca --role "$@" >/dev/null; }

write_files() {
  local same="" account="" c p=$PORT
  [ "$WORK" != "$ME" ] || same="same_account = true"
  ! accounting || account='account = "vo1"'
  "$BOURSE" ca init --dir ca --vo vo1 >/dev/null
  issue broker --name vo1 --host 127.0.0.1
  issue operator --name me
  { printf '[broker]\nname = "vo1"\nbudget = 1000000.0\ncycle = "2s"\nhorizon = "1d"\nlead = "10s"\n'; tables broker vo1 "$p"; } >broker.toml
  for c in $CLUSTERS; do
    p=$((p + 10))
    issue site --name "$c" --host 127.0.0.1
    mkdir -m 711 -p "work-$c"
    {
      cat <<CONF
name = "$c"
policy = "easy"
[[group]]
name = "batch"
nodes = $NODES
price = 1.0
[cluster]
kind = "slurm"
conf = "$TWO/$c/slurm.conf"
partition = "batch"
holder = "mail"
folder = "$TWO/work-$c"
$same
[[account]]
user = "*"
as = "$WORK"
$account
CONF
      tables site "$c" "$p"
    } >"site-$c.toml"
  done
  cat >context.json <<CONF
{"broker": "https://127.0.0.1:$((PORT + 2))", "ca": "ca/ca.pem", "certificate": "ca/operator-me.pem", "key": "ca/operator-me.key",
 "sites": {"north": "https://127.0.0.1:$((PORT + 12))", "south": "https://127.0.0.1:$((PORT + 22))"}}
CONF
  cat >both.toml <<CONF
# Six nodes at one time: more than either cluster has.
[[job]]
name = "both"
nodes = 6
length = "1m"
max_price = 9.0
command = ["sh", "-c", "echo part \$BOURSE_LEG of \$BOURSE_LEGS at \$BOURSE_SITE on \$BOURSE_NODES; sleep 5; exit 3"]
CONF
  chmod 600 ./*.toml context.json
}

both_usable() { [ "$("$BOURSE" sites --json | grep -c '"answer": *"usable"')" = 2 ]; }

start() {
  local c
  [ ! -e "$TWO/pid" ] || die "$TWO is there already: two-slurms.sh stop, and remove it"
  for c in munged slurmctld slurmd sbatch "$BOURSE"; do command -v "$c" >/dev/null || die "$c is not installed; see the head of this file"; done
  mkdir -p "$TWO/pid" "$TWO/log" && chmod 755 "$TWO" && cd "$TWO"
  start_munge
  for c in $CLUSTERS; do configure "$c"; done
  if accounting; then start_accounting; else say "no accounting: slurmdbd and mariadb-server are not installed"; fi
  for c in $CLUSTERS; do start_cluster "$c"; done
  write_files
  export BOURSE_CONTEXT=$TWO/context.json
  background broker "$BOURSE" broker broker.toml
  for c in $CLUSTERS; do background "site-$c" "$BOURSE" site "site-$c.toml"; done
  wait_for "the federation" both_usable
  "$BOURSE" sites
  say "ready: $0 try, $0 shell, $0 stop"
}

ended() { "$BOURSE" jobs both --json | grep -qE '"state": *"(done|failed|abandoned|withdrawn)"'; }

try() {
  local c
  export BOURSE_CONTEXT=$TWO/context.json
  cd "$TWO"
  "$BOURSE" submit both.toml --wait
  for c in $CLUSTERS; do
    echo "--- $c: what Slurm keeps for it"
    SLURM_CONF=$TWO/$c/slurm.conf scontrol show reservation -o | cut -d' ' -f1-5
  done
  MOST=3000 wait_for "the end of the job" ended # its window begins within minutes
  "$BOURSE" jobs both
  "$BOURSE" logs both
  for c in $CLUSTERS; do
    ! accounting || { echo "--- $c: sacct"; SLURM_CONF=$TWO/$c/slurm.conf sacct --allusers --allocations --format=JobID,User,Account,State,ExitCode,NNodes,Start,End; }
  done
}

stop() {
  local f p i
  for f in "$TWO"/pid/{broker,site-*,slurmctld-*,slurmd-*,slurmdbd,mariadb,munged}; do
    p=$(cat "$f" 2>/dev/null) && kill "$p" 2>/dev/null || continue
    for ((i = 0; i < 150; i++)); do kill -0 "$p" 2>/dev/null || break; sleep 0.1; done
  done
  rm -rf "$TWO/pid"
  say "stopped; journals, logs and accounting are in $TWO"
}

case ${1:-} in
start) start ;;
try) try ;;
shell) cd "$TWO" && BOURSE_CONTEXT=$TWO/context.json SLURM_CONF=$TWO/north/slurm.conf exec "${SHELL:-bash}" ;;
stop) stop ;;
*) sed -n '2,18p' "$0"; exit 2 ;;
esac
