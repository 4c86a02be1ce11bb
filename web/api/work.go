package api

import (
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// WorkRequest is what a job runs on its clusters. Texts for programs may have any characters,
// because they are not shown.
type WorkRequest struct {
	Command    []string          `json:"command,omitempty" maxItems:"4096" shown:"never" doc:"what to run on each of its sites when its window begins: a program and its arguments, at most 65,536 bytes. Simulated clusters run nothing"`
	Script     string            `json:"script,omitempty" maxLength:"65536" shown:"never" doc:"instead of a command: the text of a script that begins with #!"`
	Env        map[string]string `json:"env,omitempty" maxProperties:"256" shown:"never" doc:"environment variables, at most 65,536 bytes"`
	WorkDir    string            `json:"workdir,omitempty" maxLength:"1024" doc:"folder on the cluster in which it starts; default: where the cluster keeps its output"`
	Output     string            `json:"output,omitempty" maxLength:"1024" doc:"file for its output, in that folder or below; %j is the job, %l the leg; default: chosen by the cluster"`
	Error      string            `json:"error,omitempty" maxLength:"1024" doc:"file for its standard error, likewise; default: that of its output"`
	Rendezvous bool              `json:"rendezvous,omitempty" doc:"use its first site as the place where its legs exchange their addresses"`
}

// WorkRequestOf is the API's form of a work; zero if there is none.
func WorkRequestOf(w *grid.Work) WorkRequest {
	if w == nil {
		return WorkRequest{}
	}
	r := WorkRequest{Command: w.Command, Script: w.Script, WorkDir: w.Dir, Output: w.Output, Error: w.Error, Rendezvous: w.Rendezvous}
	for _, v := range w.Env {
		if r.Env == nil {
			r.Env = map[string]string{}
		}
		r.Env[v.Name] = v.Value
	}
	return r
}

// put gives the job its work, or names the wrong key.
func (r *WorkRequest) put(j *grid.Job) *grid.WorkKey {
	w := &grid.Work{Command: r.Command, Script: r.Script, Dir: r.WorkDir, Output: r.Output, Error: r.Error, Rendezvous: r.Rendezvous}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		w.Env = append(w.Env, grid.EnvVar{Name: name, Value: r.Env[name]})
	}
	if w.Same(&grid.Work{}) {
		return nil
	}
	if wrong := w.Check(); wrong != nil {
		return wrong
	}
	j.Work = w
	return nil
}

// JobOutput is what the work of a leg has printed.
type JobOutput struct {
	ID   string `json:"id"`
	Site string `json:"site"`
	Leg  int    `json:"leg" doc:"leg of the window, from 0, as in BOURSE_LEG"`
	From int64  `json:"from" doc:"the first byte of data"`
	Size int64  `json:"size" doc:"size of the output so far"`
	Data []byte `json:"data" doc:"in base64; at most 65,536 bytes. To continue, read from: from plus its length"`
	Over bool   `json:"over,omitempty" doc:"the leg has ended: there is no output beyond size"`
}
