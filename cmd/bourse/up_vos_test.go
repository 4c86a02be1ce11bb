package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/client"
)

// Two VOs with brokers of one name share two sites: jobs of both take all nodes of both
// sites, one after the other; neither reads anything of the other, and neither's
// certificates are good for the sites' operators' commands, or for the other VO.
func TestUp_TwoVOsShareTheSites(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOutVOs(dir, 2, 2, 0, testPort(17), federation.Simulated)
	if err != nil || len(members) != 4 || members[1].Name != "vo2/main" || members[3].Name != "south" {
		t.Fatal(members, err)
	}
	if _, err := federation.LayOutVOs(dir, 2, 3, 0, testPort(17), federation.Simulated); err == nil || !strings.Contains(err.Error(), "2 VOs") {
		t.Errorf("another number of VOs: %v", err)
	}
	for _, m := range members[:2] {
		change(t, m.File, `cycle = "5s"`, `cycle = "1s"`)
	}
	startUp(t, dir)
	run := func(file string, args ...string) (string, error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		out, messages, err := runCommand(ctx, append(args, "--context", file)...)
		return out + messages, err
	}
	contexts := []string{federation.ContextOf(dir, "vo1"), federation.ContextOf(dir, "vo2")}
	for i, file := range contexts {
		eventually(t, time.Minute, "both sites known", func() bool {
			out, err := run(file, "sites", "--json")
			return err == nil && strings.Count(out, `"listed": true`) == 2
		})
		batch := filepath.Join(dir, fmt.Sprintf("batch%d.toml", i))
		text := fmt.Sprintf("[[job]]\nname = \"job-of-vo%d\"\nnodes = 192\nlength = \"1m\"\nmin_performance = 0.5\nmax_price = 9.0\n", i+1)
		if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := run(file, "submit", batch, "--wait"); err != nil || !strings.Contains(out, "placed") {
			t.Fatalf("vo%d: %v\n%s", i+1, err, out)
		}
	}
	for file, want := range map[string]string{contexts[0]: "vo1", contexts[1]: "vo2", filepath.Join(dir, federation.ContextFile): "vo1 vo2"} { // by which their live pages are told apart
		found, err := client.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		if who, err := found.Who(t.Context()); err != nil || strings.Join(who.VOs, " ") != want {
			t.Errorf("%s: %+v, %v; want the VOs %s", file, who, err, want)
		}
	}
	for i, file := range contexts {
		own, other := fmt.Sprintf("vo%d", i+1), fmt.Sprintf("vo%d", 2-i)
		for _, args := range [][]string{{"jobs"}, {"reservations"}, {"sites"}, {"offers"}, {"accounts"}, {"jobs", "--json"}, {"reservations", "--json"}} {
			out, err := run(file, args...)
			if err != nil || strings.Contains(out, other) {
				t.Errorf("%s reads by %v: %v\n%s", own, args, err, out)
			}
		}
	}
	sites := filepath.Join(dir, federation.ContextFile)
	c, err := client.Read(sites)
	if err != nil {
		t.Fatal(err)
	}
	north, err := c.ToSite("north")
	if err != nil {
		t.Fatal(err)
	}
	if s, err := north.Site(t.Context()); err != nil || len(s.Brokers) != 2 || s.Brokers[0].Broker != "vo1/main" || s.Brokers[1].Broker != "vo2/main" || s.Brokers[0].Paid.Credits == 0 {
		t.Errorf("the sites' operator sees %+v, %v", s.Brokers, err)
	}
	stolen := filepath.Join(dir, "stolen.json") // the addresses of the sites, the certificate of a VO's operator
	text, err := os.ReadFile(sites)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stolen, []byte(strings.ReplaceAll(string(text), `"ca/op`, `"vo1/ca/op`)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run(stolen, "drain", "north"); err == nil || !strings.Contains(err.Error(), "vo1") && !strings.Contains(err.Error(), "certificate") {
		t.Errorf("an operator of a VO drains a site: %v\n%s", err, out)
	}
	if out, err := run(sites, "drain", "north"); err != nil {
		t.Errorf("the sites' operator: %v\n%s", err, out)
	}
	out, _, err := runCommand(t.Context(), "journal", "verify", dir, "--json")
	if err != nil || !strings.Contains(out, `"broken": 0`) || !strings.Contains(out, `"broker:vo1/main"`) || !strings.Contains(out, `"broker:vo2/main"`) || strings.Contains(out, `"committed": 0`) {
		t.Errorf("the journals: %v\n%s", err, out)
	}
}

// Several VOs may each have a broker of several processes: nothing of one is another's.
func TestUpVOs_EachBrokerMayHaveReplicas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOutVOs(dir, 2, 2, 3, testPort(40), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	taken := map[string]string{}
	for _, m := range members {
		names = append(names, m.Role+":"+m.Name)
		for _, address := range []string{m.Listen, m.HTTP} {
			if by := taken[address]; by != "" {
				t.Errorf("%s and %s are both at %s", by, m.Name, address)
			}
			taken[address] = m.Name
		}
	}
	want := []string{"broker:vo1/main-1", "broker:vo1/main-2", "broker:vo1/main-3", "broker:vo2/main-1", "broker:vo2/main-2", "broker:vo2/main-3"}
	if len(names) != 8 || !slices.Equal(names[:6], want) || members[6].Role != "site" {
		t.Errorf("%q", names)
	}
	for i := range 2 {
		c, err := client.Read(federation.ContextOf(dir, federation.VOName(i)))
		if err != nil || c.Broker == "" || len(c.Replicas) != 2 || len(c.Sites) != 0 {
			t.Errorf("the context of %s: %+v, %v", federation.VOName(i), c, err)
		}
		b, err := configs.ReadBrokerProcess(members[3*i].File)
		if err != nil || len(b.Replica.Members) != 3 || b.Gossip.VO != federation.VOName(i) {
			t.Errorf("%s: %+v, %v", members[3*i].File, b, err)
		}
	}
	if c, err := client.Read(filepath.Join(dir, federation.ContextFile)); err != nil || c.Broker != "" || len(c.Sites) != 2 {
		t.Errorf("the operator's context: %+v, %v", c, err)
	}
	again, err := federation.LayOutVOs(dir, 0, 2, 0, testPort(40), "")
	if err != nil || len(again) != len(members) {
		t.Errorf("a second time: %d members, %v", len(again), err)
	}
}
