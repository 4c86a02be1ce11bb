package study

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
)

// sweepPlan holds the values for a script or a manifest.
type sweepPlan struct {
	engine                 string
	File, Name, Out, Image string
	Parts, Runs, CPUs      int
	memory                 string
	Mebibytes              int // of a task; 0: all of its node
	time                   grid.Duration
}

// Bounds of what a task may ask for.
const (
	maxTaskCPUs   = 1024
	maxTaskMemory = 16 << 20 // MiB: 16 TiB
	maxTaskTime   = 365 * grid.Day
)

// newSweepPlan builds "bourse sweep plan".
func newSweepPlan() *cobra.Command {
	var p sweepPlan
	cmd := &cobra.Command{
		Use:   "plan SWEEP.toml --engine slurm|kubernetes --parts N",
		Short: "Print a job array that runs a sweep in parts",
		Long: `Plan prints the script of a Slurm job array, or the manifest of a Kubernetes Indexed
Job, that runs a sweep in N parts, with the command that merges them. All tasks must
see the same folder of --out, the sweep's file and all files that it names, for
example on a shared file system. A task that is restarted continues where it was.

Each task asks for --cpus, --memory and --time. A task runs as many runs at once as
it has processors, and each run takes memory of its own. A task that has used up its
time is not done: Kubernetes starts it again up to three times, for Slurm submit the
same script again, and it continues.`,
		Example: "  bourse sweep plan algorithms.toml --engine slurm --parts 20 --out out \\\n      > sweep.sh && sbatch sweep.sh\n" +
			"  bourse sweep plan algorithms.toml --engine kubernetes --parts 20 \\\n      | kubectl apply -f -",
		Args: flags.Arguments(1, 1, "one file, SWEEP.toml"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(args[0], cmd.OutOrStdout()) },
	}
	flags.AddFlag(cmd, &p.engine, flags.OneOf("engine", "slurm", "kubernetes"), "engine", "", "slurm or kubernetes")
	flags.AddFlag(cmd, &p.Parts, flags.AsNumber, "parts", 0, "number of parts")
	flags.AddFlag(cmd, &p.Out, flags.AsFolder, "out", "out", "folder for the results, with the parts below it")
	flags.AddFlag(cmd, &p.CPUs, flags.AsNumber, "cpus", 2, "processors of each task, and runs at once in it")
	flags.AddFlag(cmd, &p.memory, flags.AsText, "memory", "4G", "memory of each task, as 512M or 4G (powers of 1024); for slurm also 0: all of its node")
	flags.AddFlag(cmd, &p.time, flags.AsDuration, "time", 4*grid.Hour, "how long each task may run")
	flags.AddFlag(cmd, &p.Image, flags.AsName, "image", "ghcr.io/bourse-grid/bourse:latest", "for kubernetes: the container's image, with bourse in its PATH; needs no shell")
	return cmd
}

func (p *sweepPlan) run(file string, stdout io.Writer) error {
	if err := flags.FileThere(file); err != nil {
		return err
	}
	text := map[string]string{"slurm": slurmPlan, "kubernetes": kubernetesPlan}[p.engine]
	if text == "" {
		return errors.New("--engine is missing; must be slurm or kubernetes")
	}
	if p.Parts < 1 || p.Parts > maxParts {
		return fmt.Errorf("--parts %d: must be 1 to %d", p.Parts, maxParts)
	}
	if err := p.task(); err != nil {
		return err
	}
	config, err := configs.ReadSweep(file)
	if err != nil {
		return err
	}
	p.Runs = config.Points() * config.Runs
	if p.Parts > p.Runs {
		return fmt.Errorf("--parts %d: the sweep has only %d runs; use fewer parts", p.Parts, p.Runs)
	}
	p.File, p.Name = file, jobName(config.Name)
	for _, word := range []string{p.File, p.Out, p.Image} { // comments name them too
		if strings.ContainsAny(word, "\r\n") {
			return fmt.Errorf("%q has a line break, which a script cannot contain; use another name", word)
		}
	}
	t := template.Must(template.New("").Funcs(template.FuncMap{"sh": shellQuoted, "yaml": yamlQuoted}).Parse(text))
	return failure.Of(t.Execute(stdout, p))
}

// task checks what each task asks for.
func (p *sweepPlan) task() error {
	m := regexp.MustCompile(`^([0-9]{1,8})([MG])$`).FindStringSubmatch(p.memory)
	switch {
	case p.CPUs < 1 || p.CPUs > maxTaskCPUs:
		return fmt.Errorf("--cpus %d: must be 1 to %d", p.CPUs, maxTaskCPUs)
	case p.time < grid.Minute || p.time > maxTaskTime:
		return fmt.Errorf("--time %v: must be %v to %v", p.time, grid.Minute, maxTaskTime)
	case p.memory == "0" && p.engine == "slurm":
		return nil
	case m == nil:
		return fmt.Errorf("--memory %q: must be a number with M or G, such as 4G; for slurm also 0, all memory of the node", p.memory)
	}
	p.Mebibytes, _ = strconv.Atoi(m[1])
	if m[2] == "G" {
		p.Mebibytes *= 1024
	}
	if p.Mebibytes < 64 || p.Mebibytes > maxTaskMemory {
		return fmt.Errorf("--memory %s: must be 64M to %dG", p.memory, maxTaskMemory/1024)
	}
	return nil
}

// Seconds is how long a task may run, rounded up.
func (p *sweepPlan) Seconds() int64 { return int64((p.time + grid.Second - 1) / grid.Second) }

// Minutes is how long a task may run, rounded up.
func (p *sweepPlan) Minutes() int64 { return int64((p.time + grid.Minute - 1) / grid.Minute) }

// jobName is a name that both engines accept.
func jobName(s string) string {
	notInNames := regexp.MustCompile(`[^a-z0-9]+`)
	s = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(s), "-"), "-")
	return strings.TrimSuffix("bourse-"+s[:min(len(s), 40)], "-")
}

// Command is what a pod runs. It uses no shell, because an image may have none: Kubernetes
// itself inserts the index, and reads $$ as $.
func (p *sweepPlan) Command() []string {
	plain := strings.NewReplacer("$", "$$").Replace
	return []string{"bourse", "sweep", "--out", plain(p.Out) + "/part-$(JOB_COMPLETION_INDEX)", "--part", "auto", "--resume", "--", plain(p.File)}
}

// shellQuoted quotes a word for a shell.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// yamlQuoted writes a text or a list as JSON, which YAML accepts whatever it contains.
func yamlQuoted(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

const slurmPlan = `#!/bin/sh
#SBATCH --job-name={{.Name}}
#SBATCH --array=1-{{.Parts}}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={{.CPUs}}
#SBATCH --mem={{if .Mebibytes}}{{.Mebibytes}}M{{else}}0{{end}}
#SBATCH --time={{.Minutes}}
#SBATCH --output={{.Name}}-%a.log
# {{.Runs}} runs in {{.Parts}} parts. When all tasks are done:
#   bourse sweep merge --out {{sh .Out}} {{sh .Out}}/part-*
# or, automatically, after submitting this as job J:
#   sbatch --dependency=afterok:J --wrap "bourse sweep merge --out {{sh .Out}} {{sh .Out}}/part-*"
export GOMAXPROCS={{.CPUs}} # where Slurm does not bind tasks to processors
exec bourse sweep {{sh .File}} --out {{sh .Out}}/part-"$SLURM_ARRAY_TASK_ID" --part auto --resume
`

const kubernetesPlan = `# {{.Runs}} runs in {{.Parts}} parts. The claim holds the sweep's file, all files that it names, and
# the results. When the job is complete, in a shell where the claim is mounted:
#   bourse sweep merge --out {{sh .Out}} {{sh .Out}}/part-*
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}
spec:
  completionMode: Indexed
  completions: {{.Parts}}
  parallelism: {{.Parts}}
  backoffLimitPerIndex: 3
  template:
    spec:
      restartPolicy: Never
      activeDeadlineSeconds: {{.Seconds}}
      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532 # the account of the image
        runAsGroup: 65532
        fsGroup: 65532 # it must write into the claim
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: sweep
          image: {{yaml .Image}}
          workingDir: /work
          env:
            - name: BOURSE_PARTS
              value: "{{.Parts}}"
          command: {{yaml .Command}}
          resources:
            requests:
              cpu: "{{.CPUs}}"
              memory: {{.Mebibytes}}Mi
            limits:
              cpu: "{{.CPUs}}"
              memory: {{.Mebibytes}}Mi
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop: ["ALL"]
          volumeMounts:
            - name: work
              mountPath: /work
      volumes:
        - name: work
          persistentVolumeClaim:
            claimName: bourse-sweep
`
