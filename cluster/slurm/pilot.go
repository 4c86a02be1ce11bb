package slurm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/grid"
)

// A pilot is a job that holds nodes and idles, until it becomes the work of a job or leaves. It
// knows what it may do from its folder, which it reads once a second:
//
//	NAME/begun     made once, by the first job of that name: its number, nodes, begin and clock
//	NAME/grant     for how long it may idle, in seconds from its begin
//	NAME/go        start and wrapper of the work that it becomes
//	NAME/leave     it is to leave
//	NAME/decided/  made once, for going or for leaving: whoever makes it has decided
//	NAME/going     it has seen the word to go
//	NAME/left      it has left
//
// It leaves by itself shortly before its grant is over, whatever becomes of all others.

// unreadable is for how many seconds a pilot goes on whose folder cannot be read.
const unreadable = "30"

// pilot is the script of a pilot. It uses nothing but the shell and a few tools.
func pilot(name, here string, granted grid.Duration) string {
	head := fmt.Sprintf("#!/bin/sh\n# Submitted by Bourse as the pilot %s.\nbourse_here=%s\nbourse_granted=%d\nbourse_leaves=%d\n",
		name, ssh.Quote(here), int64(granted/grid.Second), int64(agents.PilotLeaves/grid.Second))
	return head + idling
}

// idling is what all pilots have in common.
const idling = `umask 077
bourse_find() {
  for bourse_tool in "/usr/bin/$1" "/bin/$1" "/usr/local/bin/$1"; do [ -x "$bourse_tool" ] && return; done
  bourse_tool=$1
}
bourse_find date; bourse_date=$bourse_tool
bourse_find mkdir; bourse_mkdir=$bourse_tool
bourse_find rmdir; bourse_rmdir=$bourse_tool
bourse_find sleep; bourse_sleep=$bourse_tool
bourse_number() { case $1 in '' | *[!0-9]* | ????????????*) return 1 ;; esac; }
bourse_own=$("$bourse_date" +%s)
bourse_begin=$bourse_own
bourse_number "$SLURM_JOB_START_TIME" && bourse_begin=$SLURM_JOB_START_TIME
if ! (set -C && printf 'job=%s\nbegin=%s\nnodes=%s\nclock=%s\n' "$SLURM_JOB_ID" "$bourse_begin" "$SLURM_JOB_NODELIST" "$bourse_own" >"$bourse_here/begun") 2>/dev/null; then
  [ -e "$bourse_here/begun" ] || exit 126
  exit 125
fi
bourse_told=
trap bourse_told=1 TERM
bourse_seen=$bourse_own

# It leaves, unless it is decided that it goes. A folder that is gone or full decides nothing.
bourse_leave() {
  if ! "$bourse_mkdir" "$bourse_here/decided" 2>/dev/null && [ -e "$bourse_here/decided" ]; then
    bourse_i=0 # the word to go was there before the decision, and a shared folder may show it later
    while [ "$bourse_i" -lt 60 ]; do
      (: <"$bourse_here/go") 2>/dev/null && return
      bourse_i=$((bourse_i + 1)); "$bourse_sleep" 1
    done
  fi
  (: >"$bourse_here/left") 2>/dev/null
  exit 0
}
while :; do
  bourse_now=$("$bourse_date" +%s)
  # A change of its own makes a client of NFS see at once what others have changed in the folder.
  "$bourse_mkdir" "$bourse_here/tick" 2>/dev/null && "$bourse_rmdir" "$bourse_here/tick"
  if [ -r "$bourse_here/begun" ]; then
    bourse_seen=$bourse_now
    [ -e "$bourse_here/leave" ] && bourse_told=1
    if [ -r "$bourse_here/grant" ]; then
      while IFS='=' read -r bourse_key bourse_value; do
        [ "$bourse_key" = grant ] && bourse_number "$bourse_value" && [ "$bourse_value" -gt "$bourse_granted" ] && bourse_granted=$bourse_value
      done <"$bourse_here/grant"
    fi
  elif [ $((bourse_now - bourse_seen)) -ge ` + unreadable + ` ]; then
    bourse_told=1
  fi
  if [ -n "$bourse_told" ] || [ $((bourse_now - bourse_begin)) -ge $((bourse_granted - bourse_leaves)) ]; then bourse_leave; fi
  if [ -e "$bourse_here/go" ]; then
    "$bourse_mkdir" "$bourse_here/decided" 2>/dev/null
    (: >"$bourse_here/going") 2>/dev/null
    break
  fi
  "$bourse_sleep" 1
done

# It goes: it waits for the start and becomes the wrapper of the work, unless that was given up.
bourse_start= bourse_wrapper= bourse_told=
while IFS='=' read -r bourse_key bourse_value; do
  case $bourse_key in start) bourse_start=$bourse_value ;; wrapper) bourse_wrapper=$bourse_value ;; esac
done <"$bourse_here/go"
bourse_number "$bourse_start" && [ -r "$bourse_wrapper" ] || exit 126
while bourse_now=$("$bourse_date" +%s) && [ "$bourse_now" -lt "$bourse_start" ]; do
  [ -n "$bourse_told" ] || [ -e "${bourse_wrapper%/*}/begun" ] && exit 0
  if [ $((bourse_start - bourse_now)) -gt 1 ]; then "$bourse_sleep" 1; else "$bourse_sleep" 0.1 2>/dev/null || "$bourse_sleep" 1; fi
done
exec /bin/sh "$bourse_wrapper" >"${bourse_wrapper%/*}/output" 2>&1
`

// claim submits a pilot, unless a job of that name is there or one has begun.
func (d *Driver) claim(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	refuse := func(code grid.Code, format string, args ...any) (agents.Outcome, grid.Reason) {
		return agents.Denied, grid.Because(code, format, args...)
	}
	offered, known := d.offered(m.Group)
	switch {
	case d.afar == nil:
		return refuse(grid.Invalid, "this site holds no pilots")
	case !known:
		return refuse(grid.Unknown, "there is no group %q", m.Group)
	case m.Count < 1 || m.Limit < grid.Second || m.Granted < grid.Second:
		return refuse(grid.Invalid, "a pilot of %s for %s, granted %s", grid.Count(m.Count, "node"), m.Limit.Words(), m.Granted.Words())
	}
	if _, why := d.work.account(m.User); why.Refused() {
		return agents.Denied, why
	}
	jobs, err := d.c.jobsNamed(ctx, m.Name)
	if err != nil {
		return judge(err)
	}
	for _, j := range jobs {
		switch {
		case j.user != m.User: // somebody else's job with the same name
		case !over(j.state):
			return agents.Done, grid.Reason{}
		case j.nodes != "":
			return refuse(grid.BadState, "it has run before, as job %s", j.number)
		}
	}
	here := d.work.of(m.Name)
	files := map[string]string{"grant": fmt.Sprintf("grant=%d\n", int64(m.Granted/grid.Second))}
	if err := d.work.prepare(ctx, m.Name, nil, files); err != nil {
		return unprepared(err)
	}
	args := append(slices.Clone(m.Options), "--parsable", "--job-name="+m.Name, "--partition="+offered.Partition, "--nodes="+strconv.Itoa(m.Count),
		"--exclusive", "--mem=0", "--time="+strconv.FormatInt(int64((m.Limit+grid.Minute-1)/grid.Minute), 10), "--no-requeue", "--chdir="+here, "--output="+here+"/output", "--input=/dev/null")
	if len(offered.Without) > 0 {
		args = append(args, "--exclude="+strings.Join(offered.Without, ","))
	}
	_, err = d.c.run(ctx, nil, pilot(m.Name, here, m.Granted), "sbatch", args...)
	return judge(err)
}

// unprepared says that a folder could not be made. If there was no connection, that is unknown.
func unprepared(err error) (agents.Outcome, grid.Reason) {
	if outcome, why := judge(err); outcome == agents.Failure {
		return outcome, why
	}
	return agents.Denied, grid.Because(grid.NoCluster, "its folder cannot be made: %v", err)
}

// What the scripts for a pilot exit with when it is not there any more, has become other work, or
// has not said what it does.
const (
	pilotLeft  = 9
	pilotTaken = 10
	pilotMute  = 11
)

// pilotSaid is the outcome of such a script.
func pilotSaid(err error) (agents.Outcome, grid.Reason) {
	f, ok := err.(*Failed)
	switch {
	case err == nil:
		return agents.Done, grid.Reason{}
	case ok && f.Exit == pilotLeft:
		return agents.Denied, grid.Because(grid.BadState, "the pilot does not run, or it has left")
	case ok && f.Exit == pilotTaken:
		return agents.Denied, grid.Because(grid.BadState, "the pilot has become other work")
	}
	return agents.Failure, grid.Because(grid.NoCluster, "%v", err)
}

// grant lets a pilot idle for longer. It is written whole, and never made smaller.
func (d *Driver) grant(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	if d.afar == nil {
		return agents.Denied, grid.Because(grid.Invalid, "this site holds no pilots")
	}
	seconds := strconv.FormatInt(int64(m.Granted/grid.Second), 10)
	_, err := d.afar.do(ctx, "grant", d.afar.in()+`cd `+ssh.Quote(m.Name)+` 2>/dev/null || exit `+strconv.Itoa(pilotLeft)+`
[ -e left ] || [ -e leave ] && exit `+strconv.Itoa(pilotLeft)+`
read -r had <grant || exit 1
had=${had#grant=}
[ "$had" -ge `+seconds+` ] && exit 0
echo grant=`+seconds+` | cat >grant.new && mv grant.new grant`) // cat says why it cannot write
	return pilotSaid(err)
}

// runIn makes a pilot become work, in one call: its files are there before the word to go, and the
// decision is made with that word, unless the pilot has made it.
func (d *Driver) runIn(ctx context.Context, m agents.Command) (agents.Outcome, grid.Reason) {
	if !plainName(m.In) {
		return agents.Denied, grid.Because(grid.Invalid, "%q cannot name a pilot", m.In)
	}
	if d.afar == nil {
		return agents.Denied, grid.Because(grid.Invalid, "this site holds no pilots")
	}
	here := d.work.of(m.Name)
	files := map[string]string{"wrapper": wrapper(m, here), "in": "in=" + m.In + "\nnodes=" + strings.Join(m.Nodes, ",") + "\n"}
	if m.Work.Work.Script != "" {
		files["script"] = m.Work.Work.Script
	}
	if where := whereabouts(m, here); where != "" {
		files["where"] = where
	}
	start := strconv.FormatInt(int64(m.Start.Add(grid.Second-1)/1000), 10)
	values := fmt.Sprintf("left=%d taken=%d mute=%d pilot=%s work=%s start=%s wrapper=%s\n", pilotLeft, pilotTaken, pilotMute, ssh.Quote(m.In), ssh.Quote(m.Name), start, ssh.Quote(here+"/wrapper"))
	_, err := d.afar.do(ctx, "run", d.c.setting()+d.afar.in()+values+`running=$(squeue --noheader --name="$pilot" --states=RUNNING --format=%A) || exit 1
[ -n "$running" ] && [ -e "$pilot/begun" ] && [ ! -e "$pilot/left" ] || exit $left
if [ -e "$pilot/go" ]; then
  grep -qxF "wrapper=$wrapper" "$pilot/go" || exit $taken
else
  [ -e "$pilot/decided" ] || [ -e "$pilot/leave" ] && exit $left
  (
`+d.afar.preparing(m.Name, files)+`) && [ -e "$work/wrapper" ] || exit 1
  printf 'start=%s\nwrapper=%s\n' "$start" "$wrapper" | cat >"$pilot/go.new" && mv "$pilot/go.new" "$pilot/go" || exit 1
fi
mkdir "$pilot/decided" 2>/dev/null && exit 0
for i in 1 2 3 4 5 6 7 8 9 10; do
  [ -e "$pilot/left" ] && exit $left
  [ -e "$pilot/going" ] && exit 0
  [ -e "$pilot/decided" ] || exit 1
  sleep 1
done
exit $mute`)
	return pilotSaid(err)
}

// Offer is what a group is to Slurm.
type Offer struct {
	Partition string
	Without   []string // nodes of the partition that are not offered in the group
}

// Offer says what groups there are. It may be called again at any time.
func (d *Driver) Offer(groups map[string]Offer) { d.offers.Store(&groups) }

func (d *Driver) offered(group string) (Offer, bool) {
	if groups := d.offers.Load(); groups != nil {
		o, known := (*groups)[group]
		return o, known
	}
	return Offer{}, false
}

// within finds the pilot that a work is in, "" if it is in none. To end work that has not begun, it
// also makes the mark of its begin, so that it never does.
func (f *afar) within(ctx context.Context, name string) (string, error) {
	q := ssh.Quote(name)
	out, err := f.do(ctx, "within", f.in()+`[ -e `+q+`/grant ] && : >`+q+`/leave
[ -e `+q+`/in ] || exit 0
(set -C; echo given=up >`+q+`/begun) 2>/dev/null
head -c 4096 `+q+`/in`)
	if err != nil {
		return "", err
	}
	in := readNote(out)["in"]
	if in != "" && !plainName(in) {
		return "", fmt.Errorf("%q cannot be the pilot of %s", in, name)
	}
	return in, nil
}

// pilots adds to a look what pilots were granted, and the work that is in them. all are the notes
// of the folders.
func (f *afar) pilots(look *grid.Look, all map[string]map[string]map[string]string) {
	jobs := map[string]int{}
	for i := range look.Jobs {
		j := &look.Jobs[i]
		if had, there := jobs[j.Name]; !there || j.Number == all[j.Name]["begun"]["job"] && look.Jobs[had].Number != j.Number {
			jobs[j.Name] = i
		}
		if n := all[j.Name]["grant"]; n != nil && !over(j.State) {
			seconds, _ := strconv.ParseInt(n["grant"], 10, 32)
			j.Granted = grid.Duration(max(seconds, 0)) * grid.Second
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := all[name]
		if n["in"] == nil {
			continue
		}
		var p *grid.ManagedJob
		if i, there := jobs[n["in"]["in"]]; there {
			p = &look.Jobs[i]
		}
		if j, there := f.inPilot(name, n, p, all[n["in"]["in"]]); there {
			look.Jobs = append(look.Jobs, j)
		}
	}
}

// inPilot is work in a pilot as a look shows it; p is the pilot's job, nil if the manager does not
// know it.
func (f *afar) inPilot(name string, n map[string]map[string]string, p *grid.ManagedJob, of map[string]map[string]string) (grid.ManagedJob, bool) {
	j := grid.ManagedJob{Name: name, User: f.who.name, In: n["in"]["in"], Number: of["begun"]["job"]}
	if p != nil {
		j.Number, j.Submit = p.Number, p.Submit
	}
	nodes := commas(n["in"]["nodes"])
	if j.Count = len(nodes); j.Number == "" {
		return j, false
	}
	t, err := readTraces(name, n["begun"], n["exit"])
	begun := err == nil && t.begun && n["begun"]["given"] == ""
	switch {
	case begun && t.ended:
		j.State, j.Nodes, j.Start, j.End, j.Exit, j.Signal = grid.ManagedEnded, nodes, t.begin, t.end, t.exit, t.signal
	case begun && p != nil && !over(p.State):
		j.State, j.Nodes, j.Start, j.End = grid.ManagedRunning, nodes, t.begin, p.End
	case begun && p != nil:
		j.State, j.Nodes, j.Start, j.End, j.Exit, j.Signal, j.Why = p.State, nodes, t.begin, p.End, p.Exit, p.Signal, p.Why
	case begun: // what became of it nobody knows
		return j, false
	case p != nil && !over(p.State):
		start, _ := strconv.ParseInt(of["go"]["start"], 10, 64)
		j.State, j.Begin = grid.ManagedPending, instant(start)
	default:
		j.State, j.Why = grid.ManagedEnded, "PilotEnded"
	}
	return j, true
}

// pilotRuns reports whether a look shows a pilot that runs and idles.
func pilotRuns(look *grid.Look) bool {
	if look == nil {
		return false
	}
	work := map[string]bool{}
	for i := range look.Jobs {
		if j := &look.Jobs[i]; j.In != "" && j.State == grid.ManagedRunning {
			work[j.In] = true
		}
	}
	return slices.ContainsFunc(look.Jobs, func(j grid.ManagedJob) bool { return j.Granted > 0 && j.State == grid.ManagedRunning && !work[j.Name] })
}
