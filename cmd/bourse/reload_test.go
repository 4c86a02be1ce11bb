package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// sharedUp is a federation of one site and two VOs, of which the site has let the second
// one go before it starts.
type sharedUp struct {
	dir, file string // of the site
	own       string // context of the site's operators
	of        map[string]string
	pid       int
}

func startShared(t *testing.T, port int) *sharedUp {
	t.Helper()
	u := &sharedUp{dir: t.TempDir(), of: map[string]string{}}
	members, err := federation.LayOutVOs(u.dir, 1, 2, 0, testPort(port), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	u.file, u.own = members[2].File, filepath.Join(u.dir, federation.ContextFile)
	change(t, u.file, "name = \"vo2\"\n", "name = \"vo2\"\nlet_go = true\n")
	for i, m := range members[:2] {
		change(t, m.File, `cycle = "5s"`, `cycle = "1s"`)
		u.of[federation.VOName(i)] = federation.ContextOf(u.dir, federation.VOName(i))
	}
	stdout, _, _ := startUp(t, u.dir)
	var up struct {
		Agents []struct {
			Agent string
			PID   int
		}
	}
	if err := json.Unmarshal([]byte(stdout.String()), &up); err != nil || len(up.Agents) != 3 || up.Agents[2].Agent != "site:north" {
		t.Fatalf("%v\n%s", err, stdout)
	}
	u.pid = up.Agents[2].PID
	return u
}

// run runs a command under a context.
func (u *sharedUp) run(t *testing.T, under string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, messages, err := runCommand(ctx, append(args, "--context", under)...)
	return out + messages, err
}

// listed waits until the broker of a VO knows the site, or that it has left.
func (u *sharedUp) listed(t *testing.T, vo string, is bool) {
	t.Helper()
	eventually(t, time.Minute, fmt.Sprintf("%s: site listed %t", vo, is), func() bool {
		out, err := u.run(t, u.of[vo], "sites", "--json")
		return err == nil && (strings.Contains(out, `"listed": true`) && strings.Contains(out, `"member": true`)) == is
	})
}

// place has a VO place a job of an hour on half of the nodes.
func (u *sharedUp) place(t *testing.T, vo, name string) {
	t.Helper()
	batch := filepath.Join(t.TempDir(), "batch.toml")
	text := fmt.Sprintf("[[job]]\nname = %q\nnodes = 20\nlength = \"1h\"\nmin_performance = 0.5\nmax_price = 9.0\n", name)
	if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := u.run(t, u.of[vo], "submit", batch); err != nil {
		t.Fatal(err, out)
	}
	eventually(t, time.Minute, name+" placed", func() bool {
		out, err := u.run(t, u.of[vo], "reservations", "--json")
		return err == nil && strings.Contains(out, name)
	})
}

// reload has the site read its file again.
func (u *sharedUp) reload(t *testing.T) api.Reloaded {
	t.Helper()
	out, err := u.run(t, u.own, "site", "reload", "north", "--json")
	if err != nil {
		t.Fatal(err, out)
	}
	var r api.Reloaded
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err, out)
	}
	return r
}

// A VO is taken in by SIGHUP and let go by the command. A file that is wrong, or that
// would lose work, changes nothing. The legs of a VO that was let go are kept, and the
// other VO goes on.
func TestSiteReload_TakesAVOInAndLetsItGo(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	u := startShared(t, 30)
	u.listed(t, "vo1", true)
	text, err := os.ReadFile(u.file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text []byte) {
		t.Helper()
		if err := os.WriteFile(u.file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what, why string) {
		t.Helper()
		if out, err := u.run(t, u.own, "site", "reload", "north"); err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v\n%s", what, err, out)
		}
	}
	write(append(slices.Clone(text), "nonsense = 1\n"...))
	refused("a key that there is not", "nonsense")
	both := bytes.Replace(text, []byte("let_go = true\n"), nil, 1)
	write(bytes.ReplaceAll(both, []byte("../vo2/ca/ca.pem"), []byte("../vo1/ca/ca.pem")))
	refused("a certificate of another authority", "vo2")
	if r := u.unchanged(t, text); len(r.Changed) > 0 {
		t.Errorf("%+v", r)
	}
	write(both)
	if err := syscall.Kill(u.pid, syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	u.listed(t, "vo2", true)
	u.place(t, "vo2", "kept-job")

	i, j := bytes.LastIndex(both, []byte("[[vo]]")), bytes.Index(both, []byte("[tls]"))
	write(slices.Concat(both[:i], both[j:]))
	refused("a VO with legs and no table", "let_go = true")
	again := bytes.Replace(text, []byte("name = \"vo1\"\n"), []byte("name = \"vo1\"\nshare = 0.5\n"), 1)
	write(bytes.Replace(again, []byte(`policy = "easy"`), []byte(`policy = "fcfs"`), 1))
	r := u.reload(t)
	if !slices.Equal(r.Changed, []string{"VO vo2 is let go", "shares of VOs"}) || !slices.Equal(r.Restart, []string{"policy"}) {
		t.Errorf("%+v", r)
	}
	u.listed(t, "vo2", false)
	kept, err := os.ReadFile(u.file)
	if err != nil {
		t.Fatal(err)
	}
	write(slices.Concat(both[:i], both[j:]))
	refused("a VO that is let go, with legs and no table", "let_go = true")
	write(kept)
	u.place(t, "vo1", "others-job")
	out, err := u.run(t, u.own, "reservations", "--at", "north", "--json")
	if err != nil || !strings.Contains(out, "vo2/main") || !strings.Contains(out, "kept-job") || !strings.Contains(out, "others-job") {
		t.Errorf("the site keeps %v\n%s", err, out)
	}

	sized := func(nodes string) []byte {
		return bytes.Replace(kept, []byte("\nnodes = 64\n"), []byte("\nnodes = "+nodes+"\n"), 1)
	}
	write(sized("10"))
	refused("fewer nodes than are promised", "--force takes the nodes")
	if out, err := u.run(t, u.own, "site", "reload", "north", "--dry-run"); exitCode(err) != 1 || !strings.Contains(err.Error(), "unless you say --force, with refund and penalty: it would take away") || !strings.Contains(out, "would be lost: job kept-job-") {
		t.Errorf("a dry run: %v\n%s", err, out)
	}
	write(bytes.Replace(sized("10"), []byte(`name = "north"`), []byte(`name = "south"`), 1))
	refused("a file of another site", "is now the file of site")
	dearer := regexp.MustCompile(`\nprice = [0-9.]+`).ReplaceAll(sized("70"), []byte("\nprice = 3.25"))
	write(append(dearer, "[limits]\nmin_notice = \"1h\"\n"...))
	if r := u.reload(t); len(r.Changed) != 3 || r.Changed[0] != "group main: nodes: 64 is now 70" || !strings.HasSuffix(r.Changed[1], " is now 3.25") || r.Changed[2] != "limits: min_notice: nothing is now 1h" || r.Legs > 0 {
		t.Errorf("a price, more nodes and a limit: %+v", r)
	}
	if out, err := u.run(t, u.own, "reservations", "--at", "north", "--json"); err != nil || !strings.Contains(out, "kept-job") || !strings.Contains(out, "others-job") {
		t.Errorf("the site keeps %v\n%s", err, out)
	}
	write(sized("10"))
	if out, err := u.run(t, u.own, "site", "reload", "north", "--force", "--why", "sold"); err != nil || !strings.Contains(out, "lost: job kept-job-") {
		t.Errorf("by force: %v\n%s", err, out)
	}
	if out, err := u.run(t, u.own, "reservations", "--at", "north", "--json"); err != nil || strings.Contains(out, "kept-job") || strings.Contains(out, "others-job") {
		t.Errorf("what is left: %v\n%s", err, out)
	}
	write(kept)
	u.reload(t)
	if out, _, err := runCommand(t.Context(), "journal", "verify", u.dir); err != nil || !strings.Contains(out, "no invariant is broken") {
		t.Errorf("journal verify: %v\n%s", err, out)
	}

	ca, err := certificate.OpenAuthority(filepath.Join(u.dir, "vo1", federation.CaFolder), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ca.Revoke(certificate.Broker, federation.SharedBroker); err != nil {
		t.Fatal(err)
	}
	if r := u.reload(t); !slices.Equal(r.Changed, []string{"certificates of vo1"}) {
		t.Errorf("a broker is revoked: %+v", r)
	}
}

// unchanged writes a text back that says what is in force, and reads it.
func (u *sharedUp) unchanged(t *testing.T, text []byte) api.Reloaded {
	t.Helper()
	if err := os.WriteFile(u.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return u.reload(t)
}

// A site's operators have no rights at a VO's broker, and a VO's operators have none at
// the site. Every operator's command is refused, in both directions, before it says
// anything.
func TestUp_OperatorsOfASiteAreNotThoseOfAVO(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	u := startShared(t, 31)
	u.listed(t, "vo1", true)
	atSite, err := client.Read(u.own)
	if err != nil {
		t.Fatal(err)
	}
	atVO, err := client.Read(u.of["vo1"])
	if err != nil {
		t.Fatal(err)
	}
	at := func(c *client.Context, file string) string {
		if c == atVO {
			return filepath.Join(u.dir, "vo1", file)
		}
		return filepath.Join(u.dir, file)
	}
	// Each with all addresses, and trust in whoever answers there.
	write := func(name string, who *client.Context, trust string) string {
		t.Helper()
		c := *who
		c.Broker, c.Sites, c.CA = atVO.Broker, atSite.Sites, trust
		c.Certificate, c.Key = at(who, c.Certificate), at(who, c.Key)
		file := filepath.Join(u.dir, name)
		if err := c.Write(file); err != nil {
			t.Fatal(err)
		}
		return file
	}
	voAtSite, siteAtVO := write("vo-at-site.json", atVO, at(atSite, atSite.CA)), write("site-at-vo.json", atSite, at(atVO, atVO.CA))
	siteAtSite, voAtVO := write("site-at-site.json", atSite, at(atSite, atSite.CA)), write("vo-at-vo.json", atVO, at(atVO, atVO.CA))
	until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	for _, x := range []struct {
		args    []string
		stolen  string
		allowed string
	}{
		{[]string{"drain", "north", "--until", until}, voAtSite, siteAtSite},
		{[]string{"drain", "north", "--resume"}, voAtSite, siteAtSite},
		{[]string{"close", "north", "--vo", "vo1"}, voAtSite, siteAtSite},
		{[]string{"open", "north", "--vo", "vo1"}, voAtSite, siteAtSite},
		{[]string{"maintenance", "north", "disks", "--group", "main", "--nodes", "1", "--start", until, "--end", "2h"}, voAtSite, ""},
		{[]string{"site", "reload", "north"}, voAtSite, siteAtSite},
		{[]string{"reservations", "--at", "north"}, voAtSite, siteAtSite},
		{[]string{"site", "lost", "north"}, siteAtVO, voAtVO},
		{[]string{"site", "lost", "north", "--undo"}, siteAtVO, voAtVO},
		{[]string{"accounts", "deposit", "5"}, siteAtVO, voAtVO},
		{[]string{"accounts", "statement"}, siteAtVO, voAtVO},
		{[]string{"accounts"}, siteAtVO, voAtVO},
		{[]string{"jobs"}, siteAtVO, voAtVO},
		{[]string{"sites"}, siteAtVO, voAtVO},
	} {
		out, err := u.run(t, x.stolen, x.args...)
		if err == nil || !strings.Contains(err.Error(), "certificate") && !strings.Contains(err.Error(), "authority") {
			t.Errorf("%v by the other side's operator: %v\n%s", x.args, err, out)
		}
		if x.allowed == "" {
			continue
		}
		if out, err := u.run(t, x.allowed, x.args...); err != nil {
			t.Errorf("%v by its own operator: %v\n%s", x.args, err, out)
		}
	}
}
