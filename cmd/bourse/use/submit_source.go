package use

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/workload"
	"github.com/bourse-grid/bourse/workload/files"
)

// What a file holds, and the jobs in it.

// ofTraces are the flags that only say how a trace becomes a batch.
var ofTraces = []string{"max-jobs", "skip", "at-once"}

// unmeantForTraces refuses flags of a trace beside something else.
func (c *submitting) unmeantForTraces(what string) error {
	for _, flag := range ofTraces {
		if c.given != nil && c.given(flag) {
			return fmt.Errorf("--%s: is for a trace and has no effect on %s; leave it out", flag, what)
		}
	}
	return nil
}

// read reads the jobs of a batch, a script or a trace, whichever the file holds, or that of a
// command.
func (c *submitting) read(ctx context.Context, from source, messages io.Writer) ([]api.JobRequest, error) {
	if from.command != nil {
		return c.line(ctx, from.name(), configs.NameOf(from.command[0]), nil, &grid.Work{Command: from.command})
	}
	text, kind, err := c.look(from.file)
	if err != nil {
		if _, gone := errors.AsType[*fs.PathError](err); gone && from.file != workload.Stdin {
			return nil, fmt.Errorf("%w; a command stands after --: bourse submit --length 1h -- %s", err, from.file)
		}
		return nil, err
	}
	_, priced := c.last("max_price")
	switch {
	case kind == kinds.Trace, kind == kinds.Packed, kind == kinds.Unknown && priced && !named(from.file, ".toml"):
		return c.trace(from, text, messages)
	case kind == kinds.Script:
		return c.script(ctx, from, text)
	case kind != kinds.Batch && kind != kinds.Unknown:
		return nil, fmt.Errorf("%s: %s", from.name(), kinds.Wrong(kind, kinds.Batch))
	case kind == kinds.Unknown && !named(from.file, ".toml") && !tables(text):
		return nil, fmt.Errorf("%s: is neither a batch, a TOML file with [[job]] tables, nor a script that begins with #!, nor a log of jobs that is known; bourse check says what is wrong with a batch, and a log goes with --max-price", from.name())
	}
	if err := cmp.Or(c.unmeantForTraces("a batch"), c.unmeant("a batch; write it into "+from.name()+", or leave it out")); err != nil {
		return nil, err
	}
	var batch *configs.Batch
	if from.file == workload.Stdin {
		batch, err = configs.ParseBatch(from.name(), text)
	} else {
		batch, err = configs.ReadBatch(from.file)
	}
	if err != nil {
		return nil, err
	}
	list := make([]api.JobRequest, len(batch.Jobs))
	for i := range batch.Jobs {
		list[i] = request(&batch.Jobs[i])
	}
	return list, nil
}

// script is the job of a script with its lines.
func (c *submitting) script(ctx context.Context, from source, text []byte) ([]api.JobRequest, error) {
	if from.file != workload.Stdin {
		var err error
		if text, err = configs.ReadScript(from.file); err != nil {
			return nil, err
		}
	}
	lines, err := configs.Directives(from.name(), text)
	if err != nil {
		return nil, err
	}
	name := "job"
	if from.file != workload.Stdin {
		name = configs.NameOf(from.file)
	}
	return c.line(ctx, from.name(), name, lines, &grid.Work{Script: string(text)})
}

// named reports whether a file has an ending, in any case of letters.
func named(file, ending string) bool { return strings.HasSuffix(strings.ToLower(file), ending) }

// tables reports whether a text from the standard input is meant to be TOML: a line begins a list
// of tables.
func tables(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("[[")) || bytes.Contains(text, []byte("\n[["))
}

// mostInput bounds what the standard input may hold, in bytes.
const mostInput = 64 << 20

// look says what a file holds. text is all of the standard input, which cannot be read
// twice.
func (c *submitting) look(file string) (text []byte, kind kinds.Kind, err error) {
	if file != workload.Stdin {
		return nil, flags.KindOfFile(file), flags.FileThere(file)
	}
	if text, err = io.ReadAll(io.LimitReader(c.in, mostInput+1)); err != nil {
		return nil, "", fmt.Errorf("standard input: %w", err)
	}
	if len(text) > mostInput {
		return nil, "", fmt.Errorf("standard input: larger than %d MiB; give a file", mostInput>>20)
	}
	if plain, err := files.Text(text); err == nil {
		text = plain
	}
	return text, kinds.Of(text), nil
}

// ofTrace are the flags of a job that hold for each job of a trace.
func (c *submitting) ofTrace(from source) (price *grid.Price, deadline *grid.Duration, err error) {
	if err := c.unmeant("a trace; leave it out", inTraces...); err != nil {
		return nil, nil, err
	}
	text, given := c.last("max_price")
	if !given {
		return nil, nil, fmt.Errorf("%s: a trace has no prices; add --max-price, in credits per node-hour (a batch is a TOML file with [[job]] tables)", from.name())
	}
	p, err := grid.ParsePrice(text)
	if err != nil {
		return nil, nil, fmt.Errorf("--max-price: %w", err)
	}
	if text, given = c.last("deadline"); !given {
		return &p, nil, nil
	}
	d, err := grid.ParseDuration(text)
	if err != nil {
		return nil, nil, fmt.Errorf("--deadline: %w", err)
	}
	return &p, &d, nil
}

// trace reads the first jobs of a trace: of a file, or of the text of the standard input.
func (c *submitting) trace(from source, text []byte, messages io.Writer) ([]api.JobRequest, error) {
	price, deadline, err := c.ofTrace(from)
	switch {
	case err != nil:
		return nil, err
	case c.most < 1 || c.most > 5000:
		return nil, fmt.Errorf("--max-jobs %d: must be 1 to 5000", c.most)
	}
	var log *workload.Trace
	if from.file == workload.Stdin {
		log, err = workload.Read(bytes.NewReader(text), from.name(), workload.Options{Skip: c.skip})
	} else {
		log, err = workload.Open(from.file, workload.Options{Skip: c.skip})
	}
	if err != nil {
		return nil, err
	}
	for _, remark := range log.Remarks() {
		fmt.Fprintln(messages, remark)
	}
	if why := log.Useless(); why != "" {
		return nil, fmt.Errorf("%s: %s", from.name(), why)
	}
	local, _ := log.Jobs(workload.JobOptions{})
	if len(local) == 0 {
		return nil, fmt.Errorf("%s: no jobs are left of %d records", from.name(), len(log.Records))
	}
	local = local[:min(len(local), c.most)]
	list, seen := make([]api.JobRequest, len(local)), map[int64]int{}
	for i, l := range local {
		name := "job" + strconv.FormatInt(l.ID, 10)
		if seen[l.ID]++; seen[l.ID] > 1 {
			name += "." + strconv.Itoa(seen[l.ID])
		}
		list[i] = api.JobRequest{Name: name, Nodes: l.Nodes, Length: api.Seconds{Duration: l.Estimate},
			Run: &api.Seconds{Duration: max(l.Run, grid.Millisecond)}, MaxPrice: &api.Price{Price: *price}}
		if deadline != nil {
			list[i].Deadline = api.Write(api.Moment{After: *deadline})
		}
		if after := l.Submit.Sub(local[0].Submit); after > 0 && !c.atOnce {
			list[i].Ready = api.Write(api.Moment{After: after})
		}
	}
	return list, nil
}
