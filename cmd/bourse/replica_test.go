package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// heldBroker is a broker that three processes hold, and a site, each a process of its own.
type heldBroker struct {
	dir     string
	members []federation.Member // the replicas first
	running map[string]*agentProcess
}

// startHeld starts them; edit may change the file of the k-th replica, from 0 on.
func startHeld(t *testing.T, port int, edit func(k int, file string)) *heldBroker {
	t.Helper()
	h := &heldBroker{dir: t.TempDir(), running: map[string]*agentProcess{}}
	var err error
	if h.members, err = federation.LayOut(h.dir, 1, 3, port, federation.Simulated); err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		change(t, h.members[k].File, `cycle = "5s"`, `cycle = "1s"`)
		if edit != nil {
			edit(k, h.members[k].File)
		}
	}
	for k := range h.members {
		h.start(t, h.name(k), h.members[k].File)
	}
	for _, p := range h.running {
		p.ready(t)
	}
	return h
}

// name is that of a replica, or of the site.
func (h *heldBroker) name(k int) string {
	if h.members[k].Role == "site" {
		return "site"
	}
	return fmt.Sprintf("replica:%s/%d", federation.VO, k+1)
}

func (h *heldBroker) start(t *testing.T, name, file string) {
	t.Helper()
	role := "broker"
	if name == "site" {
		role = name
	}
	h.running[name] = startAgent(t, role, file)
}

// run runs a command of users or operators.
func (h *heldBroker) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, messages, err := runCommand(ctx, append(args, "--context", filepath.Join(h.dir, federation.ContextFile))...)
	return out + messages, err
}

// place submits a job and waits until it is placed.
func (h *heldBroker) place(t *testing.T, name string) {
	t.Helper()
	batch := filepath.Join(h.dir, name+".toml")
	text := fmt.Sprintf("[[job]]\nname = %q\nnodes = 2\nlength = \"1m\"\nmin_performance = 0.5\nmax_price = 9.0\n", name)
	if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := h.run(t, "submit", batch, "--wait"); err != nil || !strings.Contains(out, "placed") {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// replicas returns what bourse replica shows, nothing while nobody leads.
func (h *heldBroker) replicas(t *testing.T) (r api.Replicas) {
	t.Helper()
	out, err := h.run(t, "replica", "--json")
	if err != nil {
		return r
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

// leader returns the leader once a given number of members are heard and are up to date.
func (h *heldBroker) leader(t *testing.T, heard int) (leader string, names []string) {
	t.Helper()
	eventually(t, 2*time.Minute, fmt.Sprintf("%d replicas are heard", heard), func() bool {
		n := 0
		leader, names = "", nil
		for _, m := range h.replicas(t).Members {
			names = append(names, m.Name)
			if m.Reachable && m.Behind == 0 {
				n++
			}
			if m.Role == "leader" {
				leader = m.Name
			}
		}
		return n == heard && leader != ""
	})
	return leader, names
}

// One of three replicas is lost with its disk, and a fourth takes its place by one command.
// The others know by that where it is, whatever their files say: with the leader killed too
// it is half of the majority, and nothing is lost. It is still known after a restart.
func TestReplica_AFourthTakesThePlaceOfOneThatIsLost(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	h := startHeld(t, testPort(36), nil)
	h.place(t, "one")
	leader, _ := h.leader(t, 3)
	if out, err := h.run(t, "replica"); err != nil || !strings.Contains(out, leader+" ") || strings.Count(out, "follower") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	lost := 2
	if h.name(lost) == leader {
		lost = 1
	}
	h.running[h.name(lost)].end(t, syscall.SIGKILL)
	if err := os.RemoveAll(filepath.Join(filepath.Dir(h.members[lost].File), "journal")); err != nil {
		t.Fatal(err)
	}

	file, address, server := h.fourth(t, lost, testPort(37))
	old := fmt.Sprint(lost + 1)
	as := strings.NewReplacer("replace 3 4 ", "replace "+old+" 4 ", "https://four.example.org:7480", server, "four.example.org:7402", address)
	for _, line := range cardLines(t, "Replica lost") {
		if !strings.HasPrefix(line, "bourse replica") {
			continue // that it is started again is drilled where its disk is not lost
		}
		out, exit := typed(t, as.Replace(line), filepath.Join(h.dir, federation.ContextFile))
		if replaced := strings.Contains(line, "replace"); exit != 0 || strings.Contains(out, address) != replaced || strings.Contains(out, h.name(lost)+" ") == replaced {
			t.Fatalf("%s: exit %d\n%s", line, exit, out)
		}
	}
	if out, err := h.run(t, "replica", "replace", old, "4", "--address", address, "--api", server); err != nil {
		t.Errorf("the same again: %v\n%s", err, out)
	}
	if out, err := h.run(t, "replica", "replace", old, "5", "--address", address); exitCode(err) != 2 || !strings.Contains(err.Error(), "must be a member") {
		t.Errorf("one that is gone already: %v\n%s", err, out)
	}
	h.start(t, "replica:vo1/4", file)
	h.running["replica:vo1/4"].ready(t)
	if _, names := h.leader(t, 3); len(names) != 3 || slices.Contains(names, h.name(lost)) || !slices.Contains(names, "replica:vo1/4") {
		t.Errorf("the members are %v", names)
	}

	for _, m := range h.replicas(t).Members {
		got := h.metrics(t, m.API)
		leads := fmt.Sprintf("bourse_replica_leads{agent=\"broker:vo1\"} %d\n", map[bool]int{true: 1}[m.Role == "leader"])
		behind := strings.Contains(got, "bourse_replica_behind{agent=\"broker:vo1\",member=\"replica:vo1/4\"} 0\n")
		if !strings.Contains(got, leads) || behind != (m.Role == "leader") || !strings.Contains(got, "bourse_replica_elections_total{agent=\"broker:vo1\",result=\"won\"}") {
			t.Errorf("%s, %s, counts\n%s", m.Name, m.Role, got)
		}
	}

	h.running[leader].end(t, syscall.SIGKILL)
	h.place(t, "two")
	now, _ := h.leader(t, 2)
	if now == leader {
		t.Errorf("%s leads and was killed", now)
	}
	var left string
	for k := range 3 {
		if k != lost && h.name(k) != leader {
			left = h.name(k)
			h.running[left].end(t, syscall.SIGKILL)
			h.start(t, left, h.members[k].File)
		}
	}
	h.place(t, "three")
	out, err := h.run(t, "jobs")
	for _, name := range []string{"one", "two", "three"} {
		if err != nil || !strings.Contains(out, name) {
			t.Errorf("%s is not among the jobs: %v\n%s", name, err, out)
		}
	}
}

// metrics is what the process with an API counts of replicas.
func (h *heldBroker) metrics(t *testing.T, server string) (list string) {
	t.Helper()
	var use client.Context
	text, err := os.ReadFile(filepath.Join(h.dir, federation.ContextFile))
	if err == nil {
		err = json.Unmarshal(text, &use)
	}
	use.Broker, use.Replicas = server, nil
	if err == nil {
		err = use.Write(filepath.Join(h.dir, "one.json"))
	}
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.Read(filepath.Join(h.dir, "one.json"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.ToBroker()
	if err != nil {
		t.Fatal(err)
	}
	_, by := one.Transport()
	answer, err := (&http.Client{Transport: by, Timeout: time.Minute}).Get(server + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err = io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "bourse_replica_") {
			list += line
		}
	}
	return list
}

// fourth writes the file of a replica that comes in the place of another.
func (h *heldBroker) fourth(t *testing.T, lost, port int) (file, address, server string) {
	t.Helper()
	text, err := os.ReadFile(h.members[lost].File)
	if err != nil {
		t.Fatal(err)
	}
	ports := &federation.Ports{Next: port}
	if err := ports.Reserve(h.dir); err != nil {
		t.Fatal(err)
	}
	a, err := ports.Take(4)
	if err != nil {
		t.Fatal(err)
	}
	at := func(k int) string { return fmt.Sprintf("%s:%d", federation.Host, a[k]) }
	address, server = at(3), "https://"+at(2)
	was := h.members[lost]
	from, to, _ := strings.Cut(string(text), "[[replica.member]]")
	cfg, err := configs.ReadBrokerProcess(was.File)
	if err != nil {
		t.Fatal(err)
	}
	from = strings.NewReplacer(was.Listen, at(0), cfg.Gossip.Address, at(1), was.HTTP, at(2), cfg.Replica.Listen.Address, address,
		fmt.Sprintf("id = %d", lost+1), "id = 4\njoins = true").Replace(from)
	var list []string
	for _, m := range strings.Split("[[replica.member]]"+to, "[[replica.member]]")[1:] {
		if !strings.HasPrefix(m, fmt.Sprintf("\nid = %d\n", lost+1)) {
			list = append(list, "[[replica.member]]"+m)
		}
	}
	list = append(list, fmt.Sprintf("[[replica.member]]\nid = 4\naddress = %q\napi = %q\n", address, server))
	file = federation.ReplicaFile(h.dir, federation.VO, 3)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(from+strings.Join(list, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file, address, server
}

// A leader that is stopped hands over first: the next job is accepted although the others
// would not notice by themselves for ten minutes.
func TestReplica_AnOrderlyStopHandsOver(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	h := startHeld(t, testPort(38), func(k int, file string) {
		if k > 0 { // the first is quick to lead at the start
			change(t, file, "[replica] ", "[replica]\nsilence = \"10m\" ")
		}
	})
	leader, _ := h.leader(t, 3)
	if leader != h.name(0) {
		t.Fatalf("%s leads", leader)
	}
	h.place(t, "one")
	p := h.running[leader]
	p.end(t, syscall.SIGTERM)
	if log := p.log.String(); !strings.Contains(log, "leadership handed over") || p.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("exit status %d: %s", p.cmd.ProcessState.ExitCode(), log)
	}
	h.place(t, "two")
	if now, _ := h.leader(t, 2); now == leader {
		t.Errorf("%s leads and has stopped", now)
	}
	if out, err := h.run(t, "jobs"); err != nil || !strings.Contains(out, "one") || !strings.Contains(out, "two") {
		t.Errorf("%v\n%s", err, out)
	}

	now, _ := h.leader(t, 2)
	h.running[now].end(t, syscall.SIGKILL)
	out, err := h.run(t, "replica")
	if err == nil || exitCode(err) != 1 || !strings.Contains(err.Error(), "no process of the broker leads; start those that do not answer until a majority runs") ||
		strings.Count(out, " yes ") != 1 || strings.Count(out, " no ") != 2 || strings.Contains(out, "leader") {
		t.Errorf("one of three is left: %v\n%s", err, out)
	}
}

// All replicas read their files again on SIGHUP. Whoever leads then or later has the same
// tenants and accepts the same tokens, and an operator's grants stay.
func TestReplica_AllComeToTheSameTermsWhoeverLeads(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	before, _ := issuer(t)
	after, token := issuer(t)
	texts := map[int][]byte{}
	write := func(k int, file, issuer, more string) {
		t.Helper()
		text := string(texts[k]) + "[oidc]\nissuer = \"" + issuer + "\"\naudience = \"bourse\"\n" + more
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := startHeld(t, testPort(39), func(k int, file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[k] = text
		write(k, file, before, "")
	})
	var use client.Context
	text, err := os.ReadFile(filepath.Join(h.dir, federation.ContextFile))
	if err == nil {
		err = json.Unmarshal(text, &use)
	}
	if err != nil {
		t.Fatal(err)
	}
	ana := client.Context{Broker: use.Broker, Replicas: use.Replicas, CA: use.CA, TokenFile: "ana.token"}
	if err := errors.Join(ana.Write(filepath.Join(h.dir, "ana.json")), os.WriteFile(filepath.Join(h.dir, "ana.token"), []byte(token("ana")), 0o600)); err != nil {
		t.Fatal(err)
	}
	byToken := func() (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, messages, err := runCommand(ctx, "users", "--context", filepath.Join(h.dir, "ana.json"))
		return out + messages, err
	}
	tenants := func(nodes int) string {
		return fmt.Sprintf("[[broker.tenant]]\nname = \"physics\"\nmembers = [\"oidc:ana\"]\nmax_nodes = %d\n", nodes)
	}
	reread := func(nodes int) {
		t.Helper()
		for k := range 3 {
			write(k, h.members[k].File, after, tenants(nodes))
		}
		for k := range 3 {
			p := h.running[h.name(k)]
			n := strings.Count(p.log.String(), "the file was read again")
			if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
			eventually(t, time.Minute, "read again", func() bool { return strings.Count(p.log.String(), "the file was read again") > n })
		}
	}
	same := func(who string, nodes int) {
		t.Helper()
		want, out := fmt.Sprintf("max_nodes=%d", nodes), ""
		eventually(t, time.Minute, who+" has "+want, func() bool {
			var err error
			out, err = h.run(t, "users")
			return err == nil && strings.Contains(out, want) && strings.Contains(out, "max_priority=3!")
		})
		if out, err := byToken(); err != nil || !strings.Contains(out, want) {
			t.Errorf("%s shows a user by token: %v\n%s", who, err, out)
		}
	}
	first, _ := h.leader(t, 3)
	if out, err := byToken(); exitCode(err) != 1 || !strings.Contains(err.Error(), "the token is refused") {
		t.Errorf("a token of the issuer to come: %v\n%s", err, out)
	}
	if out, err := h.run(t, "users", "grant", "oidc:ana", "max_priority=3"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	reread(7)
	same(first, 7)
	for _, by := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		led, _ := h.leader(t, 3)
		h.running[led].end(t, by)
		now, _ := h.leader(t, 2)
		same(now, 7)
		for k := range 3 {
			if h.name(k) == led {
				h.start(t, led, h.members[k].File)
			}
		}
		h.running[led].ready(t)
	}
	led, _ := h.leader(t, 3)
	reread(9)
	same(led, 9)
	h.running[led].end(t, syscall.SIGTERM)
	now, _ := h.leader(t, 2)
	same(now, 9)
}
