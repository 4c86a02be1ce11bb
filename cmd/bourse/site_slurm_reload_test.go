package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/web/client"
)

// A price, nodes, a limit and an account are changed while a leg is held, while it is placed and
// while its work runs on a real cluster. It stays on its two nodes, at its price, and its work
// runs as the account that its user had; a file that would take its nodes away is refused. The
// journals hold, by sizes that they say themselves.
func TestSlurm_ASiteReloadsUnderPromises(t *testing.T) {
	u := newSlurmUp(t, func(members []federation.Member) { change(t, members[1].File, "nodes = 4", "nodes = 2") })
	r := &slurmReload{slurmUp: u, file: filepath.Join(u.managers, "federation", "site-north", "site.toml"), nodes: 2, as: slurmUser(t)}
	r.first = r.as
	looked := `bourse_cluster_looks_total{failed="no"}`
	eventually(t, 2*time.Minute, "both sites have looked", func() bool { return r.counts("north")[looked] > 1 && r.counts("south")[looked] > 1 })
	second := u.controller(2)
	signal(t, second, syscall.SIGSTOP) // its site's part is not held before it goes on
	if out, messages, err := runCommand(t.Context(), "submit", u.batch("25s", 15, 0), "--context", u.context); err != nil {
		t.Fatalf("%v\n%s%s", err, out, messages)
	}
	r.when("held")
	r.all(3, "3.25")
	signal(t, second, syscall.SIGCONT)
	r.when("confirmed")
	r.all(4, "4.5")
	change(t, r.file, "nodes = 4", "nodes = 1")
	if out, err := r.reload(); exitCode(err) != 1 || !strings.Contains(err.Error(), "--force takes the nodes") {
		t.Errorf("fewer nodes: %v %s", err, out)
	}
	if out, err := r.reload("--dry-run"); exitCode(err) != 1 || !strings.Contains(err.Error(), "unless you say --force, with refund and penalty: it would take away") || !strings.Contains(out, "would be lost: job pair") {
		t.Errorf("a dry run: %v %s", err, out)
	}
	if _, _, err := runCommand(t.Context(), "check", r.file); exitCode(err) != 2 || !strings.Contains(err.Error(), "promised to legs (1)") {
		t.Errorf("bourse check of that file: %v", err)
	}
	change(t, r.file, "nodes = 1", "nodes = 4")
	eventually(t, 2*time.Minute, "the work runs", func() bool { return len(slurmBegun(t, u.begun, "north")) == 1 })
	r.all(3, "5.5")
	if state := u.over(); state != "done" {
		t.Errorf("the job is %s", state)
	}
	north, south := slurmBegun(t, u.begun, "north"), slurmBegun(t, u.begun, "south")
	if len(north) != 1 || len(south) != 1 || north[0].window != south[0].window {
		t.Errorf("begun at north %v, at south %v", north, south)
	}
	r.ranAs(r.first)
	slurmEmpty(t, u.managers)
	r.onRecord()
	r.blind()
}

// slurmReload is the site north, whose file changes.
type slurmReload struct {
	*slurmUp
	file      string
	nodes     int
	as, first string // account, as the file has it now and had it first
}

// reload has the site read its file again.
func (r *slurmReload) reload(args ...string) (string, error) {
	out, messages, err := runCommand(r.Context(), append([]string{"site", "reload", "north", "--context", r.context}, args...)...)
	return out + messages, err
}

// all changes a price, nodes, a limit and, as root, an account, and reloads.
func (r *slurmReload) all(nodes int, price string) {
	r.Helper()
	text, err := os.ReadFile(r.file)
	if err != nil {
		r.Fatal(err)
	}
	as := r.as
	if os.Geteuid() == 0 {
		as = map[string]string{"games": "www-data", "www-data": "games"}[r.as]
	}
	next := regexp.MustCompile(`\nprice = .*\n`).ReplaceAllString(string(text), "\nprice = "+price+"\n")
	next = regexp.MustCompile(`\nnodes = \d+\n`).ReplaceAllString(next, fmt.Sprintf("\nnodes = %d\n", nodes))
	next = strings.Replace(next, fmt.Sprintf("as = %q", r.as), fmt.Sprintf("as = %q", as), 1)
	next, _, _ = strings.Cut(next, "[limits]")
	next += fmt.Sprintf("[limits]\nmin_notice = \"%dh\"\n", nodes)
	if err := os.WriteFile(r.file, []byte(next), 0o600); err != nil {
		r.Fatal(err)
	}
	out, err := r.reload()
	for _, want := range []string{"price: ", "nodes: ", "limits: min_notice: "} {
		if err != nil || !strings.Contains(out, want) {
			r.Fatalf("price %s, %d nodes: %v, no %q in\n%s", price, nodes, err, want, out)
		}
	}
	if as != r.as && !strings.Contains(out, "account 1: as: "+r.as+" is now "+as) {
		r.Errorf("an account: %s", out)
	}
	r.nodes, r.as = nodes, as
}

// when waits until the leg at north is in a state.
func (r *slurmReload) when(state string) {
	r.Helper()
	eventually(r.T, 2*time.Minute, state, func() bool {
		out, _, err := runCommand(r.Context(), "reservations", "--at", "north", "--json", "--context", r.context)
		return err == nil && strings.Contains(out, `"`+state+`"`)
	})
}

// ranAs checks as which account the work of north has left its line.
func (r *slurmReload) ranAs(as string) {
	r.Helper()
	info, err := os.Stat(filepath.Join(r.begun, "north"))
	if err != nil {
		r.Fatal(err)
	}
	who, err := user.LookupId(strconv.Itoa(int(info.Sys().(*syscall.Stat_t).Uid)))
	if err != nil || who.Username != as {
		r.Errorf("the work ran as %+v, %v; want %s", who, err, as)
	}
}

// onRecord holds the journals to the rules, and finds the changes in them.
func (r *slurmReload) onRecord() {
	r.Helper()
	dir := filepath.Dir(filepath.Dir(r.file))
	out, _, err := runCommand(r.Context(), "journal", "verify", dir, "--json")
	if err != nil || strings.Contains(out, `"unsized"`) {
		r.Errorf("journal verify: %v\n%s", err, out)
	}
	shown, _, err := runCommand(r.Context(), "journal", "show", filepath.Dir(r.file), "--kind", "setting-changed", "--kind", "nodes-set", "--json")
	for what, least := range map[string]int{`nodes-set`: 3, `: price`: 3, `min_notice`: 3, `account 1: as`: 3} {
		if n := strings.Count(shown, what); err != nil || n < least && (what[0] != 'a' || os.Geteuid() == 0) {
			r.Errorf("%d times %q on record, want %d: %v\n%s", n, what, least, err, shown)
		}
	}
}

// controller is the process of a cluster's slurmctld.
func (u *slurmUp) controller(cluster int) int {
	u.Helper()
	text, err := os.ReadFile(filepath.Join(u.managers, fmt.Sprintf("c%d/pid/slurmctld", cluster)))
	if err != nil {
		u.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		u.Fatal(err)
	}
	u.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // stopped, it would not end
	return pid
}

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// blind kills a controller, reads the alert, and types what the card slurmctld down says: what
// it says for a controller that stays down before that is started.
func (r *slurmReload) blind() {
	r.Helper()
	if err := slurmClusters("kill", r.managers, "1"); err != nil {
		r.Fatal(err)
	}
	r.holds("BourseClusterBlind", `bourse_cluster_looks_total{failed="yes"}`, `bourse_cluster_looks_total{failed="no"}`)
	lines := cardLines(r.T, "slurmctld down")
	if len(lines) != 6 {
		r.Fatalf("the card has %d lines, want ping, status, start, sites, drain, resume: %q", len(lines), lines)
	}
	looked := `bourse_cluster_looks_total{failed="no"}`
	before := r.counts("north")[looked]
	for _, step := range []struct {
		line, want string
		exit       int
	}{{lines[0], "DOWN", 1}, {lines[1], "", 0}, {lines[4], "north", 0}, {lines[2], "", 0}, {lines[3], "drained", 0}, {lines[5], "north", 0}} {
		if said, exit := r.types(step.line); exit != step.exit || !strings.Contains(said, step.want) {
			r.Errorf("%s: exit %d, want %d and %q\n%s", step.line, exit, step.exit, step.want, said)
		}
	}
	eventually(r.T, 2*time.Minute, "the site has gone on by itself, and sells again", func() bool {
		said, exit := r.types(lines[3])
		return exit == 0 && !strings.Contains(said, "drained") && r.counts("north")[looked] > before
	})
}

// types types a line of a card; the test is the manager of services at the controller's machine.
func (r *slurmReload) types(line string) (said string, exit int) {
	r.Helper()
	switch {
	case strings.HasPrefix(line, "systemctl status slurmctld"):
		return "", 0
	case strings.HasPrefix(line, "systemctl start slurmctld"):
		if err := slurmClusters("resume", r.managers, "1"); err != nil {
			r.Fatal(err)
		}
		return "", 0
	}
	return typed(r.T, line, r.context, "SLURM_CONF="+filepath.Join(r.managers, "c1/slurm.conf"))
}

// holds waits until of two counters of north, which an alert compares over a while, the first
// has increased, and the second has not.
func (r *slurmReload) holds(alert string, up, same string) {
	r.Helper()
	rules, err := os.ReadFile("../../docs/examples/alerts.yml")
	if err != nil {
		r.Fatal(err)
	}
	if want := fmt.Sprintf("- alert: %s\n        expr: increase(%s[5m]) > 0 and on(instance) increase(%s[5m]) == 0\n", alert, up, same); !strings.Contains(string(rules), want) {
		r.Errorf("docs/examples/alerts.yml has no %s", want)
	}
	before := r.counts("north")
	eventually(r.T, 2*time.Minute, alert, func() bool {
		now := r.counts("north")
		holds := now[up] > before[up] && now[same] == before[same]
		before[same] = now[same]
		return holds
	})
}

// counts are the metrics of a site, by name and labels.
func (r *slurmReload) counts(site string) map[string]float64 {
	r.Helper()
	c, err := client.Read(r.context)
	if err != nil {
		r.Fatal(err)
	}
	server, err := c.ToSite(site)
	if err != nil {
		r.Fatal(err)
	}
	_, by := server.Transport()
	answer, err := (&http.Client{Transport: by, Timeout: time.Minute}).Get(c.Sites[site] + "/metrics")
	if err != nil {
		r.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.Fatal(err)
	}
	list := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			list[name] += n
		}
	}
	return list
}
