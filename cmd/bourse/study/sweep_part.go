package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/simulation"
)

// sweepPartFile is the only file in the folder of a finished part: a head, and a line for
// each run, in order.
const sweepPartFile = "part.jsonl"

// maxParts bounds the parts of a sweep.
const maxParts = 100_000

// sweepPart is part i of a number of parts, counted from 1. The zero value is the whole
// sweep.
type sweepPart struct{ i, of int }

// parsePart reads --part; "auto" asks the environment of a job array.
func parsePart(s string, env func(string) string) (p sweepPart, err error) {
	switch s {
	case "":
		return p, nil
	case "auto":
		if p, err = arrayPart(env); err != nil {
			return p, err
		}
	default:
		i, of, ok := strings.Cut(s, "/")
		var e1, e2 error
		p.i, e1 = strconv.Atoi(i)
		p.of, e2 = strconv.Atoi(of)
		if !ok || e1 != nil || e2 != nil {
			return p, fmt.Errorf("--part %q: must be I/N, such as 2/8, or auto in a job array", s)
		}
	}
	if p.i < 1 || p.i > p.of || p.of > maxParts {
		return p, fmt.Errorf("--part %s: part %d of %d; I must be 1 to N, and N at most %d", s, p.i, p.of, maxParts)
	}
	return p, nil
}

// arrayPart takes the part from the environment that Slurm and Kubernetes give the tasks
// of an array.
func arrayPart(env func(string) string) (p sweepPart, err error) {
	number := func(name string) int {
		n, e := strconv.Atoi(env(name))
		if e != nil && err == nil {
			err = fmt.Errorf("--part auto: %s is %q; must be a number", name, env(name))
		}
		return n
	}
	switch {
	case env("SLURM_ARRAY_TASK_ID") != "":
		step := 1
		if env("SLURM_ARRAY_TASK_STEP") != "" {
			step = max(number("SLURM_ARRAY_TASK_STEP"), 1)
		}
		p = sweepPart{(number("SLURM_ARRAY_TASK_ID")-number("SLURM_ARRAY_TASK_MIN"))/step + 1, number("SLURM_ARRAY_TASK_COUNT")}
	case env("JOB_COMPLETION_INDEX") != "":
		p = sweepPart{number("JOB_COMPLETION_INDEX") + 1, number("BOURSE_PARTS")}
	default:
		err = errors.New("--part auto: this is neither a task of a Slurm array (SLURM_ARRAY_TASK_ID) nor a pod of an Indexed Job (JOB_COMPLETION_INDEX); give --part I/N")
	}
	return p, err
}

// take restricts the sheet to a part.
func (s *sweepSheet) take(p sweepPart) {
	if s.part = p; p.of > 0 {
		s.own = s.Sweep.Part(p.i, p.of)
	}
}

// wanted is how many runs the sheet needs.
func (s *sweepSheet) wanted() int {
	if s.own == nil {
		return s.Sweep.Runs()
	}
	n := 0
	for run := range s.Figures {
		if s.own(run) {
			n++
		}
	}
	return n
}

// head is the first line of the progress or of the part.
func (s *sweepSheet) head() sweepHead {
	h := sweepHead{Sweep: s.print, Part: s.part.i, Of: s.part.of}
	if s.part.of > 0 {
		h.Text = s.Sweep.Config.Text()
	}
	return h
}

// over reports whether the folder already has the whole part, such as when its task is
// run again.
func (s *sweepSheet) over(dir string) (bool, error) {
	path := filepath.Join(dir, sweepPartFile)
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, failure.Of(err)
	}
	_, err = s.read(path, old)
	return err == nil && s.Finished() == s.wanted(), err
}

// writePart writes the runs of a part.
func (s *sweepSheet) writePart(w io.Writer) error {
	if err := flags.WriteLine(w, s.head()); err != nil {
		return err
	}
	for run, figures := range s.Figures {
		if figures != nil {
			if err := flags.WriteLine(w, simulation.SweepRun{Run: run, Figures: figures}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sweepParts are the folders of one sweep's parts.
type sweepParts struct {
	sheet *sweepSheet
	first string // the file with which the others must agree
	of    int
	have  map[int]bool
}

// add reads a part. A part that was already added counts once.
func (p *sweepParts) add(dir string) error {
	path := filepath.Join(dir, sweepPartFile)
	text, err := os.ReadFile(path)
	if configs.NoFolder(err) {
		if _, e := os.Stat(filepath.Join(dir, sweepPartial)); e == nil {
			return fmt.Errorf("%s holds an interrupted part; run it again with --resume", dir)
		}
		return fmt.Errorf("%w; must be the folder of a part, as \"bourse sweep --part\" writes it", err)
	}
	if err != nil {
		return failure.Of(err)
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	var head sweepHead
	if err := json.Unmarshal(line, &head); err != nil || head.Part < 1 || head.Part > head.Of || head.Of > maxParts {
		return fmt.Errorf("%s is not a part of a sweep", path)
	}
	if p.sheet == nil {
		config, err := configs.RestoreSweep(path, head.Text)
		if err != nil {
			return err
		}
		p.sheet, p.first, p.of, p.have = newSweepSheet(&simulation.Sweep{Config: config}, head.Sweep), path, head.Of, map[int]bool{}
	}
	if head.Of != p.of || head.Sweep != p.sheet.print || head.Text != p.sheet.Sweep.Config.Text() {
		return fmt.Errorf("%s and %s are parts of different sweeps, or of different numbers of parts", p.first, path)
	}
	one := newSweepSheet(p.sheet.Sweep, head.Sweep)
	one.take(sweepPart{head.Part, head.Of})
	if whole, err := one.read(path, text); err != nil {
		return err
	} else if whole != len(text) || one.Finished() != one.wanted() {
		return fmt.Errorf("%s has %d of its %d runs; run the part again", path, one.Finished(), one.wanted())
	}
	return p.keep(path, head.Part, one.Figures)
}

// keep adds the runs of a part. Two folders with the same run must agree on its figures.
func (p *sweepParts) keep(path string, part int, runs [][]report.Figure) error {
	for run, figures := range runs {
		if figures == nil {
			continue
		}
		if old := p.sheet.Figures[run]; old != nil && fmt.Sprint(old) != fmt.Sprint(figures) {
			return failure.Of(fmt.Errorf("%s: run %d has different figures in another folder of part %d; they come from different versions of the program", path, run, part))
		}
		p.sheet.Keep(simulation.SweepRun{Run: run, Figures: figures})
	}
	p.have[part] = true
	return nil
}

// lacks lists the missing parts, such as "2, 5".
func (p *sweepParts) lacks() string {
	var list []string
	for i := 1; i <= p.of; i++ {
		if !p.have[i] {
			list = append(list, strconv.Itoa(i))
		}
	}
	if len(list) > 20 {
		list = append(list[:20], fmt.Sprintf("and %d more", len(list)-20))
	}
	return strings.Join(list, ", ")
}
