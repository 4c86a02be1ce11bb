package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/configs"
)

// sweepPlan holds the values for a script or a manifest.
type sweepPlan struct {
	engine                 string
	File, Name, Out, Image string
	Parts, Runs            int
}

// newSweepPlan builds "bourse sweep plan".
func newSweepPlan() *cobra.Command {
	var p sweepPlan
	cmd := &cobra.Command{
		Use:   "plan SWEEP.toml --engine slurm|kubernetes --parts N",
		Short: "Print a job array that runs a sweep in parts",
		Long: `Plan prints the script of a Slurm job array, or the manifest of a Kubernetes Indexed
Job, that runs a sweep in N parts, with the command that merges them. All tasks must
see the same folder of --out, the sweep's file and all files that it names, for
example on a shared file system. A task that is restarted continues where it was.`,
		Example: "  bourse sweep plan algorithms.toml --engine slurm --parts 20 --out out \\\n      > sweep.sh && sbatch sweep.sh\n" +
			"  bourse sweep plan algorithms.toml --engine kubernetes --parts 20 \\\n      | kubectl apply -f -",
		Args: arguments(1, 1, "one file, SWEEP.toml"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.run(args[0], cmd.OutOrStdout()) },
	}
	addFlag(cmd, &p.engine, oneOf("engine", "slurm", "kubernetes"), "engine", "", "slurm or kubernetes")
	addFlag(cmd, &p.Parts, asNumber, "parts", 0, "number of parts")
	addFlag(cmd, &p.Out, asFolder, "out", "out", "folder for the results, with the parts below it")
	addFlag(cmd, &p.Image, asName, "image", "ghcr.io/bourse-grid/bourse:latest", "for kubernetes: the container's image, with bourse in its PATH; needs no shell")
	return cmd
}

func (p *sweepPlan) run(file string, stdout io.Writer) error {
	text := map[string]string{"slurm": slurmPlan, "kubernetes": kubernetesPlan}[p.engine]
	if text == "" {
		return errors.New("--engine is missing; must be slurm or kubernetes")
	}
	if p.Parts < 1 || p.Parts > maxParts {
		return fmt.Errorf("--parts %d: must be 1 to %d", p.Parts, maxParts)
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
	return failed(t.Execute(stdout, p))
}

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
#SBATCH --output={{.Name}}-%a.log
# {{.Runs}} runs in {{.Parts}} parts. When all tasks are done:
#   bourse sweep merge --out {{sh .Out}} {{sh .Out}}/part-*
# or, automatically, after submitting this as job J:
#   sbatch --dependency=afterok:J --wrap "bourse sweep merge --out {{sh .Out}} {{sh .Out}}/part-*"
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
      securityContext:
        fsGroup: 65532 # the account of the image, which must write into the claim
      containers:
        - name: sweep
          image: {{yaml .Image}}
          workingDir: /work
          env:
            - name: BOURSE_PARTS
              value: "{{.Parts}}"
          command: {{yaml .Command}}
          volumeMounts:
            - name: work
              mountPath: /work
      volumes:
        - name: work
          persistentVolumeClaim:
            claimName: bourse-sweep
`
