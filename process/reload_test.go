package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// While one reload is under way another one is refused, with what to do; so it is before the
// agents have begun, and once the process is stopping. What is refused leaves a mark, until one
// is carried out.
func TestReload_OneAtATime(t *testing.T) {
	t.Parallel()
	entered, let := make(chan struct{}), make(chan error)
	p := &process{log: zerolog.Nop()}
	p.reloads.again = func(context.Context, api.ReloadWish) (api.Reloaded, error) {
		entered <- struct{}{}
		return api.Reloaded{}, <-let
	}
	refused := func(when, want string) {
		t.Helper()
		if _, err := p.reload(t.Context(), api.ReloadWish{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", when, err, want)
		}
	}
	refused("before the start", "try again once the process is ready")
	p.reloads.begun = true
	for _, first := range []error{errors.New("a wrong key"), nil} {
		done := make(chan error)
		go func() {
			_, err := p.reload(context.Background(), api.ReloadWish{})
			done <- err
		}()
		<-entered
		refused("two at once", "another reload is under way; repeat this one when that has been answered")
		let <- first
		if err := <-done; !errors.Is(err, first) || p.reloads.refused.Load() != (first != nil) {
			t.Errorf("the first one ends with %v, want %v; its file is refused: %t", err, first, p.reloads.refused.Load())
		}
	}
	p.reloads.ending = true
	refused("at the end", "is stopping")
}

const reloadedFile = `name = "north"
[[group]]
name = "main"
nodes = 4
price = 1.0
[listen]
address = "127.0.0.1:7400"
[gossip]
address = "127.0.0.1:7401"
vo = "vo1"
[tls]
plain = true
`

// The file of another site is refused, and nothing of it is looked at.
func TestReload_TheFileOfAnotherSite(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "site.toml")
	cfg, err := configs.ParseSiteProcess(file, []byte(reloadedFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(reloadedFile, "north", "south", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &siteFile{process: &process{log: zerolog.Nop()}, file: file, text: []byte(reloadedFile), cfg: cfg}
	_, err = f.again(t.Context(), api.ReloadWish{})
	if err == nil || !strings.Contains(err.Error(), `is now the file of site "south", and this is the process of site "north": put its own file back, or start a process of its own for "south"`) {
		t.Errorf("%v", err)
	}
}

// From whom a file takes something away is said in words: from a leg, from maintenance, which
// is of no broker, and from what the site no longer has.
func TestReload_FromWhomItTakes(t *testing.T) {
	t.Parallel()
	end := api.Instant(grid.Time(1_795_046_400_000))
	for want, l := range map[string]api.LostLeg{
		"(2), the first vo1/1/2.0 (job wave of ana, 4 nodes of main until 2026-11-19T00:00:00Z)": {Leg: "vo1/1/2.0", Broker: "vo1", Job: "wave", User: "ana", Group: "main", Nodes: 4, End: end},
		"(2), the first /0/9.0 (maintenance disks, 4 nodes of main until 2026-11-19T00:00:00Z)":  {Leg: "/0/9.0", Name: "disks", Group: "main", Nodes: 4, End: end},
		"(2), the first vo1/1/2.0 (which is over for the site)":                                  {Leg: "vo1/1/2.0", Broker: "vo1"},
	} {
		if got := takes(2, &l); !strings.HasSuffix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
