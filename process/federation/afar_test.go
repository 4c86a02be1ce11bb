package federation

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process"
)

// A site elsewhere is called after its host, or as one says.
func TestParseAfar_NamesASiteAfterItsHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Afar{
		"ana@north.example":            {"north", "ana@north.example"},
		"ana@login.south.example":      {"south", "ana@login.south.example"},
		"login3.south.example":         {"south", "login3.south.example"},
		"login":                        {"login", "login"},
		"cray":                         {"cray", "cray"},
		"east=ana@login.south.example": {"east", "ana@login.south.example"},
	} {
		if got, err := ParseAfar(text); err != nil || got != want {
			t.Errorf("%s is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "ana@", "=ana@north", "a b=ana@north", "-oProxyCommand=x", "north=-oProxyCommand=x", "ana@[::1]"} {
		if got, err := ParseAfar(text); err == nil {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}

// The folders elsewhere are found once and written down; the next time the folder says what there is.
func TestLayOutAfar_FindsOnceWhatThereIs(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "fed")
	sites := []Afar{{"north", "ana@north.example"}, {"far", "ana@login.south.example"}}
	found := 0
	find := func(_ Afar, dir string) (*process.Found, error) {
		found++
		return &process.Found{Account: "ana", Partition: "batch", Groups: []grid.Group{{Name: "batch-2c-100m", Nodes: 6}, {Name: "batch-4c-100m", Nodes: 2}}}, nil
	}
	for range 2 {
		members, err := LayOutAfar(dir, sites, 0, 26_000, find)
		if err != nil || len(members) != 3 || members[2].Name != "far" || members[2].Kind != Slurm {
			t.Fatalf("%+v, %v", members, err)
		}
	}
	if found != 2 {
		t.Errorf("looked %d times", found)
	}
	cfg, err := configs.ReadSiteProcess(memberFile(dir, "site", "far"))
	if err != nil || cfg.Cluster.SSH != "ana@login.south.example" || cfg.Cluster.Claims != configs.ClaimsPilots || !slices.Equal(cfg.Cluster.Partitions, []string{"batch"}) || len(cfg.Groups) != 2 || cfg.Accounts[0].As != "ana" {
		t.Fatalf("%v, %+v", err, cfg)
	}
	if members, err := LayOut(dir, 0, 0, 26_000, ""); err != nil || len(members) != 3 || members[1].Name != "north" || members[2].Name != "far" {
		t.Errorf("without --ssh: %+v, %v", members, err)
	}
	if _, err := LayOutAfar(dir, []Afar{{"far", "ben@east.example"}}, 0, 26_000, find); err == nil || !strings.Contains(err.Error(), "exists and leads to \"ana@login.south.example\"") {
		t.Errorf("another destination: %v", err)
	}
	broken := errors.New("no connection")
	other := filepath.Join(t.TempDir(), "other")
	if _, err := LayOutAfar(other, sites, 0, 26_000, func(Afar, string) (*process.Found, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("without a connection: %v", err)
	}
	if _, err := os.Stat(memberFile(other, "site", "north")); err == nil {
		t.Error("a site is laid out of which nothing is known")
	}
}

// A folder whose name looks like a pattern is read as it is called.
func TestFilesIn_AFolderWhoseNameLooksLikeAPattern(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "mine [2]")
	file := filepath.Join(dir, "site-north", "site.toml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err := filesIn(dir, "site-*/site.toml", "*/*/*.toml"); err != nil || !slices.Equal(files, []string{file}) {
		t.Errorf("found %v, %v", files, err)
	}
}
