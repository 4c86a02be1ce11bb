package study

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/simulation"
)

// On however many machines, a sweep ends with the bytes of one.
func TestSweepMerge_PartsAreTheWholeByteForByte(t *testing.T) {
	t.Parallel()
	file, whole := sweepFiles(t)
	if _, msg, code := workloadCommand("sweep", file, "--out", whole); code != 0 {
		t.Fatalf("exit %d: %s", code, msg)
	}
	want := contents(t, whole)
	dir := t.TempDir()
	var parts []string
	for i := 1; i <= 3; i++ {
		out := filepath.Join(dir, fmt.Sprint("part-", i))
		said, msg, code := workloadCommand("sweep", file, "--out", out, "--part", fmt.Sprintf("%d/3", i))
		if code != 0 || !strings.Contains(said, fmt.Sprintf("Part %d of 3: ", i)) {
			t.Fatalf("exit %d: %s%s", code, said, msg)
		}
		parts = append(parts, out)
	}
	merge := func(list ...string) (out, msg string, code int, dest string) {
		dest = filepath.Join(t.TempDir(), "all")
		out, msg, code = workloadCommand(append([]string{"sweep", "merge", "--out", dest}, list...)...)
		return out, msg, code, dest
	}
	out, msg, code, dest := merge(parts[2], parts[0], parts[1], parts[0]) // in any order, one twice
	if code != 0 || !strings.Contains(out, "4 combinations, 2 seeds each from 5 on") {
		t.Fatalf("exit %d: %s%s", code, out, msg)
	}
	if got := contents(t, dest); !maps.Equal(got, want) {
		t.Errorf("merged there are\n%v, want\n%v", got, want)
	}

	_, msg, code, dest = merge(parts[0], parts[2])
	if _, err := os.Stat(dest); code != 1 || !strings.Contains(msg, "missing: 2;") || err == nil {
		t.Errorf("without part 2: exit %d: %s", code, msg)
	}
	if _, msg, code := workloadCommand("sweep", file, "--out", parts[1], "--part", "2/3", "--resume"); code != 0 {
		t.Errorf("a part that is over is run again: exit %d: %s", code, msg)
	}
	other := filepath.Join(dir, "other")
	if _, msg, code := workloadCommand("sweep", file, "--out", other, "--part", "2/2"); code != 0 {
		t.Fatalf("exit %d: %s", code, msg)
	}
	if _, msg, code, _ := merge(parts[0], parts[1], parts[2], other); code != 2 || !strings.Contains(msg, "different numbers of parts") {
		t.Errorf("another division: exit %d: %s", code, msg)
	}
	if err := os.WriteFile(filepath.Join(parts[1], sweepPartFile), []byte(strings.SplitAfter(contents(t, parts[1])[sweepPartFile], "\n")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, msg, code, _ := merge(parts...); code != 2 || !strings.Contains(msg, "has 0 of its ") {
		t.Errorf("a part without its runs: exit %d: %s", code, msg)
	}
}

// Each run is in one part, and the parts are of one size.
func TestSweepPart_DealsOutEveryRunOnce(t *testing.T) {
	t.Parallel()
	file, _ := sweepFiles(t)
	config, err := configs.ReadSweep(file)
	if err != nil {
		t.Fatal(err)
	}
	s := &simulation.Sweep{Config: config}
	for n := 1; n <= 9; n++ {
		in := make([]int, s.Runs())
		for i := 1; i <= n; i++ {
			part, size := s.Part(i, n), 0
			for run := range in {
				if part(run) {
					in[run]++
					size++
				}
			}
			if size < s.Runs()/n || size > (s.Runs()+n-1)/n {
				t.Errorf("part %d of %d has %d of %d runs", i, n, size, s.Runs())
			}
		}
		for run, times := range in {
			if times != 1 {
				t.Errorf("of %d parts, %d have run %d", n, times, run)
			}
		}
	}
}

func TestSweepPart_IsTakenFromTheArray(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, env, want string }{
		{"2/8", "", "2 of 8"},
		{"auto", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=5", "3 of 5"},
		{"auto", "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=4", "3 of 4"},
		{"auto", "JOB_COMPLETION_INDEX=0 BOURSE_PARTS=4", "1 of 4"},
		{"auto", "JOB_COMPLETION_INDEX=0", `BOURSE_PARTS is ""`},
		{"auto", "", "this is neither a task of a Slurm array"},
		{"0/3", "", "must be 1 to N"}, {"4/3", "", "must be 1 to N"}, {"x", "", "must be I/N"}, {"1/2/3", "", "must be I/N"},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		p, err := parsePart(c.flag, func(k string) string { return env[k] })
		got := fmt.Sprintf("%d of %d", p.i, p.of)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("--part %s with %s: %s, want %s", c.flag, c.env, got, c.want)
		}
	}
}

func TestSweepPlan_IsAScriptThatAShellTakes(t *testing.T) {
	t.Parallel()
	file, _ := sweepFiles(t)
	out, msg, code := workloadCommand("sweep", "plan", file, "--engine", "slurm", "--parts", "4", "--out", "it's here")
	if code != 0 || !strings.Contains(out, "#SBATCH --array=1-4\n") {
		t.Fatalf("exit %d: %s%s", code, out, msg)
	}
	if sh, err := exec.LookPath("sh"); err == nil {
		cmd := exec.Command(sh, "-n")
		cmd.Stdin = strings.NewReader(out)
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, b, out)
		}
	}
	if _, msg, code := workloadCommand("sweep", "plan", file, "--engine", "slurm", "--parts", "9"); code != 2 || !strings.Contains(msg, "only 8 runs") {
		t.Errorf("more parts than runs: exit %d: %s", code, msg)
	}
	if _, msg, code := workloadCommand("sweep", "plan", file, "--engine", "pbs", "--parts", "2"); code != 2 || !strings.Contains(msg, "slurm or kubernetes") {
		t.Errorf("exit %d: %s", code, msg)
	}
}

// Both engines are told what a task takes, so that none gets a partition's defaults: a
// processor and a minute at some.
func TestSweepPlan_StatesProcessorsMemoryAndTime(t *testing.T) {
	t.Parallel()
	file, _ := sweepFiles(t)
	for _, c := range []struct{ flags, want string }{
		{"--engine slurm", "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=2\n#SBATCH --mem=4096M\n#SBATCH --time=240\n"},
		{"--engine slurm --cpus 8 --memory 512M --time 61s", "#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=8\n#SBATCH --mem=512M\n#SBATCH --time=2\n"},
		{"--engine slurm --cpus 8", "\nexport GOMAXPROCS=8 "},
		{"--engine slurm --memory 0", "#SBATCH --mem=0\n"},
		{"--engine kubernetes", "            requests:\n              cpu: \"2\"\n              memory: 4096Mi\n            limits:\n              cpu: \"2\"\n              memory: 4096Mi\n"},
		{"--engine kubernetes --time 61s", "      activeDeadlineSeconds: 61\n"},
	} {
		out, msg, code := workloadCommand(append([]string{"sweep", "plan", file, "--parts", "4"}, strings.Fields(c.flags)...)...)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d: %s has no\n%s\n%s", c.flags, code, out, c.want, msg)
		}
	}
	for flags, want := range map[string]string{
		"--engine kubernetes --memory 0": "for slurm also 0", "--engine slurm --memory 4": "M or G", "--engine slurm --memory 1M": "must be 64M",
		"--engine slurm --memory 99999999G": "must be 64M", "--engine slurm --cpus 0": "must be 1 to 1024", "--engine slurm --time 5s": "--time", "--engine slurm --time 400d": "--time",
	} {
		if _, msg, code := workloadCommand(append([]string{"sweep", "plan", file, "--parts", "4"}, strings.Fields(flags)...)...); code != 2 || !strings.Contains(msg, want) {
			t.Errorf("%s: exit %d: %s", flags, code, msg)
		}
	}
}

// The manifest asks for nothing that the restricted Pod Security Standard of Kubernetes
// forbids, and leaves out nothing that it demands.
func TestSweepPlan_PodsAreRestricted(t *testing.T) {
	t.Parallel()
	file, _ := sweepFiles(t)
	out, msg, code := workloadCommand("sweep", "plan", file, "--engine", "kubernetes", "--parts", "4")
	var job struct {
		Spec struct {
			Template struct {
				Spec struct {
					Token    *bool `yaml:"automountServiceAccountToken"`
					Security struct {
						NonRoot bool                  `yaml:"runAsNonRoot"`
						User    int                   `yaml:"runAsUser"`
						Group   int                   `yaml:"fsGroup"`
						Seccomp struct{ Type string } `yaml:"seccompProfile"`
					} `yaml:"securityContext"`
					Containers []struct {
						Security struct {
							Escalation   *bool `yaml:"allowPrivilegeEscalation"`
							ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
							Capabilities struct{ Add, Drop []string }
						} `yaml:"securityContext"`
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(out), &job); err != nil || code != 0 {
		t.Fatal(err, msg)
	}
	pod := &job.Spec.Template.Spec
	if pod.Token == nil || *pod.Token || !pod.Security.NonRoot || pod.Security.User != 65532 || pod.Security.Group != 65532 || pod.Security.Seccomp.Type != "RuntimeDefault" {
		t.Errorf("the pod has %+v", pod)
	}
	if c := pod.Containers[0].Security; c.Escalation == nil || *c.Escalation || !c.ReadOnly || len(c.Capabilities.Add) > 0 || !slices.Equal(c.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("its container has %+v", c)
	}
}

// The manifest is YAML whatever the names of files are, and a pod runs the command
// itself: the image has no shell.
func TestSweepPlan_IsAManifestWhateverTheNamesAre(t *testing.T) {
	t.Parallel()
	plain, _ := sweepFiles(t)
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "it's: a #1 \"run\" & {x} - é", "- *a\t%b", "$(HOME) $$x"} {
		file := filepath.Join(filepath.Dir(plain), name+".toml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		out, msg, code := workloadCommand("sweep", "plan", file, "--engine", "kubernetes", "--parts", "4", "--out", name, "--image", "here:5000/"+name)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, msg)
		}
		var job struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				CompletionMode string `yaml:"completionMode"`
				Completions    int
				Template       struct {
					Spec struct {
						Containers []struct {
							Image         string
							Command, Args []string
							Env           []struct{ Name, Value string }
						}
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(out), &job); err != nil {
			t.Errorf("%v in\n%s", err, out)
			continue
		}
		if job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || job.Spec.Completions != 4 || len(job.Spec.Template.Spec.Containers) != 1 {
			t.Fatalf("it is no indexed job of four:\n%s", out)
		}
		c := job.Spec.Template.Spec.Containers[0]
		if c.Image != "here:5000/"+name || len(c.Env) != 1 || c.Env[0].Value != "4" || len(c.Args) != 0 {
			t.Errorf("%s has %+v", name, c)
			continue
		}
		expanded := strings.NewReplacer("$$", "$", "$(JOB_COMPLETION_INDEX)", "3", "$(HOME)", "/root") // as Kubernetes does
		var said []string
		for _, word := range c.Command {
			said = append(said, expanded.Replace(word))
		}
		if want := []string{"bourse", "sweep", "--out", name + "/part-3", "--part", "auto", "--resume", "--", file}; !slices.Equal(said, want) {
			t.Errorf("a pod runs %q, not %q", said, want)
		}
	}
	if _, msg, code := workloadCommand("sweep", "plan", plain, "--engine", "kubernetes", "--parts", "4", "--out", "a\nb"); code != 2 || !strings.Contains(msg, "line break") {
		t.Errorf("a line break: exit %d: %s", code, msg)
	}
}
