package use

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// parsed are the flags of a command line, and what reads its jobs.
func parsed(t *testing.T, line string) (*submitting, []string) {
	t.Helper()
	c := submitting{most: 100}
	cmd := newSubmit()
	cmd.ResetFlags()
	addJobFlags(cmd, &c.settings)
	cmd.Flags().SetNormalizeFunc(dashes)
	if err := cmd.Flags().Parse(strings.Fields(line)); err != nil {
		t.Fatal(err)
	}
	return &c, cmd.Flags().Args()
}

// A command with flags, and a script with lines, are the job that a file would say.
func TestSubmit_ACommandIsAJob(t *testing.T) {
	t.Parallel()
	c, args := parsed(t, "--nodes 4 --length 1h --gpus=1 --max_price 2.5 --env A=1 --env B=2 --sites north,south --rendezvous -- python train.py --epochs 3")
	list, err := c.read(t.Context(), source{command: args}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	j := list[0]
	if j.Name != "python" || j.Nodes != 4 || j.Length.Duration != grid.Hour || j.Require.GPUs != 1 || j.MaxPrice.Price != grid.Price(5*grid.Credit/2) || !j.Rendezvous ||
		j.Env["B"] != "2" || !slices.Equal(j.Sites, []string{"north", "south"}) || strings.Join(j.Command, " ") != "python train.py --epochs 3" {
		t.Errorf("%+v", j)
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "night.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n#BOURSE nodes = 2\n#BOURSE length = 30m\necho hi\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ = parsed(t, "--nodes 3")
	list, err = c.read(t.Context(), source{file: script}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if j := list[0]; j.Name != "night" || j.Nodes != 3 || j.Length.Duration != grid.Hour/2 || j.MaxPrice != nil || j.Budget != nil || !strings.HasPrefix(j.Script, "#!/bin/sh\n#BOURSE") {
		t.Errorf("%+v", j)
	}
}

// A flag that has no effect, or cannot be meant, is refused with the remedy.
func TestSubmit_FlagsOfAJobHaveTheirPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	batch, log, bad := filepath.Join(dir, "b.toml"), filepath.Join(dir, "l.swf"), filepath.Join(dir, "bad.sh")
	for file, text := range map[string]string{batch: "[[job]]\nname = \"a\"\nnodes = 1\nlength = \"1h\"\n", log: "1 100 -1 50 2 -1 -1 2 40 -1 1 1 1 1 1 -1 -1 -1\n", bad: "#!/bin/sh\n\n#BOURSE nods = 2\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]string{
		"--nodes 4 " + batch:                   "--nodes: is for a job on the command line or in a script, and has no effect on a batch; write it into " + batch + ", or leave it out",
		"--nodes 4 --max-price 2 " + log:       "--nodes: is for a job on the command line or in a script, and has no effect on a trace",
		"--max-price cheap " + log:             `--max-price: price "cheap" is not a number`,
		"--max-price 2 --deadline soon " + log: `--deadline: duration "soon" is not a number`,
		bad:                                    bad + ":3: nods: unknown key; did you mean nodes?",
		filepath.Join(dir, "train.py"):         "a command stands after --: bourse submit --length 1h -- ",
		"--max-price 2 --deadline 1d " + log:   "",
		batch:                                  "",
		"--length 1h --nodes 2..4 -- hostname": "the command line: speedup: missing",
		"--length 1h --minimize fun -- run":    `--minimize: "fun" is unknown; must be one of`,
		"--length 1h --workdir /x -- program":  "",
	} {
		c, args := parsed(t, line)
		from := source{}
		if strings.Contains(line, " -- ") {
			from.command = args
		} else {
			from.file = args[0]
		}
		_, err := c.read(t.Context(), from, io.Discard)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

// Every key that fits on a line is a flag, under its own name.
func TestSubmit_EveryKeyIsAFlag(t *testing.T) {
	t.Parallel()
	cmd := newSubmit()
	for _, k := range configs.JobKeys() {
		f := cmd.Flags().Lookup(k.Name)
		if f == nil || !strings.HasPrefix(f.Usage, k.Doc) {
			t.Errorf("%s: %+v", k.Name, f)
		}
	}
}

// A dry run shows what each job would get, or why it gets nothing.
func TestQuote_SaysWhyThereIsNothing(t *testing.T) {
	t.Parallel()
	at := api.Instant(3_600_000)
	window := func(site string, cost grid.Credits, least bool) *api.Outlook {
		return &api.Outlook{Start: at, End: 2 * at, Nodes: 2, Cost: &api.Credits{Credits: cost}, AtLeast: least, Legs: []api.OutlookLeg{{Site: site, Nodes: 2}}}
	}
	var out strings.Builder
	printQuotes(&out, []api.JobQuote{
		{Name: "a", Capped: true, MaxPrice: api.Price{Price: grid.Price(3 * grid.Credit)}, Budget: api.Credits{Credits: 6 * grid.Credit},
			Now: window("north", grid.Credit, true), Later: window("north", 2*grid.Credit, false), Elsewhere: window("south", 4*grid.Credit, false)},
		{Name: "many", Capped: true, Elements: 40, Budget: api.Credits{Credits: grid.Credit}, Now: window("north", grid.Credit, false)},
		{Name: "b", Now: &api.Outlook{Reason: &api.Reason{Code: "too-large", Detail: "asks for 99 nodes"}}},
	}, at.Time())
	for _, want := range []string{"1.00+", "2.00 01:00:00", "4.00 south 01:00:00", "b gets no window now: asks for 99 nodes", "a pays at most 3 credits per node-hour, the broker's price_cap, and 6.00 in all.",
		"many asks for 40 windows, each with a price of its own", "and 40.00 in all.", "Nothing is held.", "+: jobs wait there"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
}
