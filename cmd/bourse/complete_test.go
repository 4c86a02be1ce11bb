package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/web/client"
)

// offered is what the shell is offered after some words.
func offered(t *testing.T, args ...string) (list []string, directive string) {
	t.Helper()
	out, messages, code := workloadCommand(append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if directive = lines[len(lines)-1]; code != 0 || !strings.HasPrefix(directive, ":") {
		t.Fatalf("%q: exit %d, %q, %s", args, code, out, messages)
	}
	for _, line := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(line, "\t")
		list = append(list, word)
	}
	return list, directive
}

func TestComplete_AFlagHasTheWordsThatItTakes(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string][]string{
		"forecast --policy":       flags.ReplayedPolicies(),
		"quote --policy":          flags.ReplayedPolicies(),
		"replay --policy":         flags.ReplayedPolicies(),
		"replay --overrun":        configs.Words("site.overrun"),
		"replay --estimates":      configs.Words("site.estimates"),
		"replay --never-ran":      configs.Words("site.workload.never_ran"),
		"generate --model":        configs.Words("site.workload.model"),
		"search --algorithm":      configs.Words("broker.algorithm"),
		"plan --algorithm":        configs.Words("broker.algorithm"),
		"plan --minimize":         {"time", "cost", "finish"},
		"sweep plan --engine":     {"slurm", "kubernetes"},
		"convert --from":          {"swf", "gwf", "sacct", "csv", "parquet"},
		"export --to":             {"evalys", "perfetto", "parquet-jobs", "parquet-events"},
		"report --figures":        {"svg", "png"},
		"jobs --state":            {"open", "waiting", "gathering", "trying", "placed", "done", "failed", "abandoned", "withdrawn", "running"},
		"submit --wait":           {"placed", "done"},
		"up --cluster":            {"local", "simulated"},
		"ca issue --role":         {"site", "broker", "user", "operator", "mirror"},
		"quote --duration":        nil,
		"accounts deposit --note": nil,
	} {
		args := append(strings.Fields(flag), "")
		if flag == "submit --wait" { // stands alone too
			args = []string{"submit", "--wait="}
		}
		got, _ := offered(t, args...)
		slices.Sort(got)
		want = slices.Sorted(slices.Values(want))
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
	}
	if got, _ := offered(t, "simulate", "--preset", ""); got[0] != "default" {
		t.Errorf("presets: %q", got)
	}
	if got, directive := offered(t, "simulate", "--out", ""); len(got) > 0 || directive != ":16" {
		t.Errorf("folders: %q, %s", got, directive)
	}
}

// A flag's help names the words that it takes.
func TestHelp_NamesTheWordsOfAFlag(t *testing.T) {
	t.Parallel()
	for _, cmd := range newRoot().Commands() {
		for _, flag := range []string{"policy", "algorithm", "model", "overrun", "never-ran", "minimize", "figures", "to", "from", "cluster", "wait"} {
			f := cmd.Flags().Lookup(flag)
			if f == nil || f.Value.Type() == "time" {
				continue
			}
			words, _ := offered(t, cmd.Name(), "--"+flag+"=")
			for _, w := range words {
				if !strings.Contains(f.Usage, w) {
					t.Errorf("%s --%s: %q does not name %s", cmd.Name(), flag, f.Usage, w)
				}
			}
		}
	}
}

// Completion offers the names of a running federation where a command takes them.
func TestComplete_OffersWhatTheFederationHas(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "wave.toml", "[[job]]\nname = \"wave\"\nuser = \"ana\"\nnodes = 2\nlength = \"10m\"\nmax_price = 2.0\n")
	if _, messages, err := f.run("submit", "DIR/wave.toml", "--wait"); err != nil {
		t.Fatalf("%v, %s", err, messages)
	}
	out, _, err := f.run("jobs", "--json")
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(out, `"id": "`)
	id, _, _ = strings.Cut(id, `"`)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"jobs"}, []string{id}}, {[]string{"explain"}, []string{id}}, {[]string{"cancel"}, []string{id}},
		{[]string{"logs"}, []string{id}}, {[]string{"modify"}, []string{id}}, {[]string{"jobs", id}, nil},
		{[]string{"offers"}, []string{"north", "south", id}}, {[]string{"site", "lost"}, []string{"north", "south"}},
		{[]string{"sites"}, []string{"north"}}, {[]string{"drain"}, []string{"north"}}, // the context knows one address
		{[]string{"close", "north", "--vo"}, []string{"vo1"}}, {[]string{"close", "--user"}, []string{"ana"}},
		{[]string{"reservations", "--at"}, []string{"north"}}, {[]string{"maintenance", "north", "disks", "--group"}, []string{"main"}},
	} {
		args := append([]string{c.args[0], "--context", f.context}, c.args[1:]...)
		if c.args[0] == "site" {
			args = append(slices.Clone(c.args), "--context", f.context)
		}
		if got, _ := offered(t, append(args, "")...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}

// If there is no federation, or none that answers, the shell is offered nothing at once.
func TestComplete_IsSilentWhereNobodyAnswers(t *testing.T) {
	t.Parallel()
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = deaf.Close() })
	dir := t.TempDir()
	silent := filepath.Join(dir, "silent.json")
	if err := (&client.Context{Broker: "http://" + deaf.Addr().String()}).Write(silent); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{filepath.Join(dir, "none.json"), silent} {
		began := time.Now()
		out, _, code := workloadCommand("__complete", "jobs", "--context", file, "")
		if took := time.Since(began); code != 0 || out != ":36\n" && out != ":4\n" || took > 20*flags.AnswerTime {
			t.Errorf("%s: exit %d, %q after %v", file, code, out, took)
		}
	}
}

func TestComplete_OffersContextsThatAreThere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"other.json": "{}", "ben/context.json": `{"broker": "http://127.0.0.1:1"}`, ".bourse/context.json": `{"broker": "http://127.0.0.1:2"}`} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := offered(t, "jobs", "--context", ""); !slices.Equal(got, []string{".bourse/context.json", "ben/context.json"}) {
		t.Errorf("%q", got)
	}
}
