package process

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/sites"
)

// driven is the file of a site behind the sample driver, which runs processes of this machine.
func driven(t *testing.T, claims string) *configs.SiteProcess {
	t.Helper()
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		t.Skip(python + " is not installed")
	}
	sample, err := filepath.Abs("../docs/examples/driver.py")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	t.Cleanup(func() { // a supervisor writes into it until it ends, and then lets its lock go
		held, _ := filepath.Glob(filepath.Join(folder, "*", "lock"))
		for _, name := range held {
			if f, err := os.Open(name); err == nil {
				_ = unix.Flock(int(f.Fd()), unix.LOCK_SH)
				_ = f.Close()
			}
		}
	})
	cfg := &configs.SiteProcess{}
	cfg.Name = "north"
	cfg.Groups = []grid.Group{{Name: "batch", Nodes: 2, Performance: grid.Unit}}
	cfg.Cluster = configs.Cluster{Kind: "command", Command: []string{python, sample, "--folder", folder, "--nodes", "3"}, Claims: claims, SameAccount: true}
	return cfg
}

// A site with a driver offers the nodes that the driver's look shows, and sends it commands.
func TestCommandCluster_OffersWhatTheDriverShows(t *testing.T) {
	t.Parallel()
	cfg, agent := driven(t, configs.ClaimsNone), &sites.Config{}
	b, err := commandCluster(&process{log: zerolog.Nop()}, Options{}, cfg, agent)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	if len(agent.Groups) != 1 || agent.Groups[0].Nodes != 2 || agent.Groups[0].Padding == 0 {
		t.Errorf("offers %+v", agent.Groups)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	c := agents.Command{Verb: agents.Run, Name: "bourse.north.a", Start: 1, End: 4_000_000_000_000, Nodes: []string{"n001"}, User: me.Username, Site: "north",
		Work: &grid.Handover{Job: "7", Legs: 1, Work: grid.Work{Command: []string{"sh", "-c", "exit 0"}}}}
	b.driver.Do(t.Context(), c, func(m agents.Message) {
		if done := m.(agents.CommandDone); done.Outcome != agents.Done {
			t.Errorf("got %+v", done)
		}
	})
	b.driver.Do(t.Context(), agents.LookRequest{}, func(m agents.Message) {
		if look := m.(agents.Looked).Look; look == nil || len(look.Jobs) != 1 || look.Jobs[0].Name != c.Name {
			t.Errorf("got %+v", m)
		}
	})
}

// A driver without what claims needs is bad input, which names the verbs; one that cannot be
// started is not.
func TestCommandCluster_RefusesADriverThatLacksVerbs(t *testing.T) {
	t.Parallel()
	_, err := commandCluster(&process{log: zerolog.Nop()}, Options{}, driven(t, configs.ClaimsReservations), &sites.Config{})
	if err == nil || failure.Is(err) || !strings.Contains(err.Error(), "cannot reserve and assign") {
		t.Errorf("got %v", err)
	}
	cfg := driven(t, configs.ClaimsNone)
	cfg.Cluster.Command = []string{"/bin/false"}
	if _, err := commandCluster(&process{log: zerolog.Nop()}, Options{}, cfg, &sites.Config{}); !failure.Is(err) {
		t.Errorf("got %v", err)
	}
}
