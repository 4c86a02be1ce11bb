package web

import (
	"maps"
	"slices"

	"bourse"
)

// WorkRequest is what a job runs on its clusters. What programs take may have any
// characters: it is not shown.
type WorkRequest struct {
	Command    []string          `json:"command,omitempty" maxItems:"4096" shown:"never" doc:"what it runs on each of its sites when its window begins: a program and its arguments, at most 65,536 bytes. Simulated clusters run nothing"`
	Script     string            `json:"script,omitempty" maxLength:"65536" shown:"never" doc:"in place of a command: the text of a script that begins with #!"`
	Env        map[string]string `json:"env,omitempty" maxProperties:"256" shown:"never" doc:"variables of its environment, at most 65,536 bytes"`
	WorkDir    string            `json:"workdir,omitempty" maxLength:"1024" doc:"the folder that it begins in, on the cluster; default: where the cluster keeps its output"`
	Output     string            `json:"output,omitempty" maxLength:"1024" doc:"the file that its output goes to, in that folder or below; %j is the job, %l the leg; default: where the cluster keeps it"`
	Rendezvous bool              `json:"rendezvous,omitempty" doc:"its first site has a place where its parts tell each other their addresses"`
}

// WorkRequestOf is a work as the API takes it; the zero one of none.
func WorkRequestOf(w *bourse.Work) WorkRequest {
	if w == nil {
		return WorkRequest{}
	}
	r := WorkRequest{Command: w.Command, Script: w.Script, WorkDir: w.Dir, Output: w.Output, Rendezvous: w.Rendezvous}
	for _, v := range w.Env {
		if r.Env == nil {
			r.Env = map[string]string{}
		}
		r.Env[v.Name] = v.Value
	}
	return r
}

// put gives the job its work, or says which key is wrong.
func (r *WorkRequest) put(j *bourse.Job) *bourse.WorkKey {
	w := &bourse.Work{Command: r.Command, Script: r.Script, Dir: r.WorkDir, Output: r.Output, Rendezvous: r.Rendezvous}
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		w.Env = append(w.Env, bourse.EnvVar{Name: name, Value: r.Env[name]})
	}
	if w.Same(&bourse.Work{}) {
		return nil
	}
	if wrong := w.Check(); wrong != nil {
		return wrong
	}
	j.Work = w
	return nil
}
