package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// gatheredWave is a job of two parts for two sites.
const gatheredWave = "[[job]]\nname = \"wave\"\nlength = \"1h\"\nbudget = 300.0\ncommand = [\"./wave\"]\n[job.gather]\nparts = [\"north:8\", \"south:16\"]\n"

// pastOf writes the log of a cluster of 20 nodes for so many days: a job of all of them for an hour at each noon, and
// of one at each midnight.
func pastOf(t *testing.T, dir, name, header string, days int) {
	t.Helper()
	text := header
	for d := range days {
		text += fmt.Sprintf("%d %d 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 -1 -1\n%d %d 0 3600 20 -1 -1 20 3600 -1 1 1 1 1 1 1 -1 -1\n", 2*d+1, 86400*d, 2*d+2, 86400*d+43200)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// The answer has what is asked for, in seconds; logs of one time are set to one clock by their headers,
// others count from their beginnings.
func TestForecast_OfAJobThatIsGathered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("wave.toml"), []byte(gatheredWave), 0o600); err != nil {
		t.Fatal(err)
	}
	pastOf(t, dir, "north.swf", "; UnixStartTime: 1760000000\n; MaxProcs: 20\n", 90)
	pastOf(t, dir, "south.swf", "; UnixStartTime: 1760086400\n; MaxProcs: 20\n", 80)
	pastOf(t, dir, "old.swf", "; UnixStartTime: 860000000\n", 80)
	ask := func(more ...string) (string, string, int) {
		return workloadCommand(append([]string{"forecast", "--gather", in("wave.toml"), "--past", "north=" + in("north.swf")}, more...)...)
	}
	out, said, code := ask("--past", "south="+in("south.swf"), "--json")
	var keys map[string]any
	var got struct {
		Replays, Began     int
		P50, P90, Promised *int64
		Stretch, WasteMax  float64
	}
	if code != 0 || said != "" || json.Unmarshal([]byte(out), &got) != nil || json.Unmarshal([]byte(out), &keys) != nil {
		t.Fatalf("exit %d, %s: %s", code, said, out)
	}
	if got.Replays != 30 || got.Began != 30 || *got.P50 != 70 || *got.P90 < 70 || *got.P90 > 3700 || *got.Promised < *got.P50 || got.WasteMax <= 0 || got.WasteMax > 0.05 || len(keys) != 7 {
		t.Errorf("answered %s", out)
	}
	if again, _, _ := ask("--past", "south="+in("south.swf"), "--json"); again != out {
		t.Errorf("first %s then %s", out, again)
	}
	out, said, code = ask("--past", "south:20="+in("old.swf"), "--at", "60d")
	if code != 0 || !strings.Contains(said, "of different times") || !strings.Contains(out, "wave: 8 of 20 at north, 16 of 20 at south, submitted 60d into the logs") || !strings.Contains(out, "9 in 10 such jobs begin within") {
		t.Errorf("exit %d, %s: %s", code, said, out)
	}
	out, said, code = ask("--past", "south:16x2="+in("south.swf")) // 20 cores of two a node
	if code != 0 || said != "" || !strings.Contains(out, "16 of 16 at south") {
		t.Errorf("exit %d, %s: %s", code, said, out)
	}
	out, _, code = ask("--past", "south="+in("south.swf"), "--at", "10d")
	if code != 0 || !strings.Contains(out, "No promise: a promise needs 30 replays.") {
		t.Errorf("exit %d: %s", code, out)
	}
}

// Saved snapshots are a log, too: of the jobs that have ended in them, each once.
func TestForecast_OfAGatherFromSavedSnapshots(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "of [2025]*") // which is no pattern
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "wave.toml"), []byte(gatheredWave), 0o600); err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for i := range 20 {
		nodes = append(nodes, fmt.Sprintf(`{"name": "n%d", "state": "up"}`, i+1))
	}
	for _, site := range []string{"north", "south"} {
		if err := os.Mkdir(filepath.Join(dir, site), 0o700); err != nil {
			t.Fatal(err)
		}
		for k := range 2 { // the second snapshot shows the first's jobs again
			var jobs []string
			for d := range 20 * (k + 1) {
				at := 1_760_000_000 + 86400*d
				jobs = append(jobs, fmt.Sprintf(`{"number": "%d", "user": "ana", "state": "ended", "partition": "batch", "count": 1, "limit": 60, "submit": %d, "start": %d, "end": %d}`, d+1, at, at, at+60))
			}
			look := fmt.Sprintf(`{"at": %d, "source": "test", "nodes": [%s], "jobs": [%s], "reservations": []}`, 1_760_000_000+86400*20*(k+1), strings.Join(nodes, ", "), strings.Join(jobs, ", "))
			if err := os.WriteFile(filepath.Join(dir, site, fmt.Sprintf("%d.json", k)), []byte(look), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, said, code := workloadCommand("forecast", "--gather", filepath.Join(dir, "wave.toml"), "--past", "north="+filepath.Join(dir, "north"), "--past", "south="+filepath.Join(dir, "south"))
	if code != 0 || !strings.Contains(out, "30 of 30") || !strings.Contains(out, "8 of 20 at north") {
		t.Errorf("exit %d, %s: %s", code, said, out)
	}
}

// Errors name the flag and what would be right.
func TestForecast_OfAGatherSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"wave.toml": gatheredWave, "plain.toml": "[[job]]\nname = \"a\"\nnodes = 1\nlength = \"1h\"\nbudget = 3.0\n",
		"short.toml": strings.Replace(gatheredWave, "1h", "10m", 1), "wide.toml": strings.Replace(gatheredWave, ":16", ":21", 1),
		"two.toml": gatheredWave + strings.Replace(gatheredWave, "wave\"", "more\"", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pastOf(t, dir, "n.swf", "; MaxProcs: 20\n", 40)
	pastOf(t, dir, "bare.swf", "", 40)
	const both = " --past north=DIR/n.swf --past south=DIR/n.swf"
	for args, want := range map[string]string{
		"wave.toml":                     "--gather needs the log of each of the job's sites: --past north=north.swf.gz",
		"wave.toml --past north":        `--past "north": must be SITE=LOG, such as north=north.swf.gz, or SITE:NODES=LOG`,
		"wave.toml --past north:0=x":    `--past "north:0=x": its nodes must be 1 to 1000000`,
		"wave.toml --past north:20x0=x": `--past "north:20x0=x": the cores of a node must be 1 to 32767`,
		"wave.toml --past north:19=DIR/n.swf --past south=DIR/n.swf": "40 of 80 jobs ask for more than the 19 nodes of north; if the log counts cores, say how many a node has: --past north:19x32=",
		"wave.toml --past north=DIR/n.swf":                           "job wave has a part at south, whose log is missing: --past south=LOG",
		"wave.toml --past east=DIR/n.swf":                            "--past east: job wave has no part there",
		"wave.toml --past south=DIR/n.swf" + both:                    "--past south: given twice",
		"wave.toml --past north=DIR/bare.swf --past south=DIR/n.swf": "its header does not give the cluster's size; write it with the site, --past north:128=",
		"wave.toml --past north=DIR/none.swf --past south=DIR/n.swf": "--past north: open ",
		"wave.toml --at 1d" + both:                                   "the logs begin too late: all have 1d before the instant of the forecast, which needs 6d 12h, and for all 30 replays 26d 19h",
		"wave.toml --at 41d" + both:                                  "--at: 41d is not within what all logs have, 0s to 39d 12h",
		"wave.toml --nodes 2" + both:                                 "--nodes has no effect on --gather, which goes by its job file and --past; leave it out",
		"plain.toml" + both:                                          "no job in it has [job.gather]",
		"two.toml" + both:                                            `the jobs "wave" and "more" are both gathered; --gather takes one`,
		"short.toml" + both:                                          "job.gather: waste 0.05 of 10m is 30 s a node, a first grant 90 s; allow 0.15",
		"wide.toml" + both:                                           "job wave wants 21 nodes at south, which has 20 by ",
		"wave.toml --slurm" + both:                                   "--gather goes by the logs of --past, and looks at no cluster",
		"none.toml" + both:                                           "none.toml: no such file",
	} {
		line := strings.ReplaceAll("forecast --gather DIR/"+args, "DIR", dir)
		if _, said, code := workloadCommand(strings.Fields(line)...); code != 2 || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d, %q, want %q", args, code, said, want)
		}
	}
	for args, want := range map[string]string{
		"--slurm --past a=b --nodes 1 --duration 1h": "--past has no effect without --gather",
		"--past a=b": "--past has no effect without --gather",
		"--at 3d":    "--at has no effect without --gather",
	} {
		if _, said, code := workloadCommand(strings.Fields("forecast " + args)...); code != 2 || !strings.Contains(said, want) {
			t.Errorf("%s: exit %d, %q", args, code, said)
		}
	}
	if _, said, code := workloadCommand("forecast", "--slurm"); code != 2 || !strings.Contains(said, `required flag(s) "duration", "nodes" not set`) {
		t.Errorf("exit %d, %q", code, said)
	}
}
