package api

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	"github.com/danielgtaylor/huma/v2"
)

// Batch is a submission: jobs that are submitted together under an identity made by the
// client, so that the client can repeat it if the answer is lost.
type Batch struct {
	ID     string       `json:"id" minLength:"8" maxLength:"64" pattern:"^[A-Za-z0-9_-]+$" doc:"the batch's identity, unique for each user in it, chosen at random by the client: letters, digits, - and _; repeating it with the same content changes nothing" example:"b-3f9k2m7q1x5c8v0n"`
	Notify string       `json:"notify,omitempty" maxLength:"2000" doc:"https address that receives every event of these jobs"`
	Jobs   []JobRequest `json:"jobs" minItems:"1" maxItems:"5000" doc:"their order does not matter; among the jobs of one user, priority does"`
}

// BatchAnswer is the result of a submission, job by job in the order of the batch.
type BatchAnswer struct {
	ID   string     `json:"id"`
	Jobs []JobTaken `json:"jobs"`
}

// JobTaken says whether the broker has accepted a job.
type JobTaken struct {
	ID     string  `json:"id" doc:"the job's identity at the broker: its name, a dash, and eight letters derived from the batch's identity and the job's user"`
	Name   string  `json:"name"`
	Taken  bool    `json:"taken"`
	Reason *Reason `json:"reason,omitempty" doc:"why it was not accepted; submitting the same batch again tries it again"`
}

// Vocabulary turns the batch into jobs submitted now, each named with its user's suffix, or
// reports the wrong keys.
func (b *Batch) Vocabulary(now grid.Time, suffixes map[string]string) ([]grid.Job, error) {
	digest := b.digest()
	jobs := make([]grid.Job, len(b.Jobs))
	seen := make(map[string]bool, len(b.Jobs))
	var wrong []error
	for i := range b.Jobs {
		r := &b.Jobs[i]
		j, key, err := r.Job(now)
		if seen[r.Name] {
			key, err = "name", fmt.Errorf("%q appears twice in the batch; must be unique", r.Name)
		}
		seen[r.Name] = true
		if err != nil {
			if wrong = append(wrong, &huma.ErrorDetail{Location: fmt.Sprintf("body.jobs[%d].%s", i, key), Message: err.Error()}); len(wrong) == 20 {
				break
			}
			continue
		}
		j.Name = r.Name + "-" + suffixes[r.User]
		j.Origin = grid.Origin{Batch: b.ID, Digest: digest, Label: r.Name, Notify: b.Notify}
		jobs[i] = j
	}
	if len(wrong) == 0 {
		wrong = b.tie(jobs)
	}
	if len(wrong) > 0 {
		first := wrong[0].(*huma.ErrorDetail)
		return nil, huma.Error422UnprocessableEntity(first.Location+": "+first.Message, wrong...)
	}
	return jobs, nil
}

// tie translates the names in after into identities at the broker. A name that is not in the
// batch must be an identity already; the broker refuses it if it is unknown.
func (b *Batch) tie(jobs []grid.Job) []error {
	names, after, place := make([]string, len(b.Jobs)), make([][]string, len(b.Jobs)), make(map[string]int, len(b.Jobs))
	for i := range b.Jobs {
		names[i], after[i], place[b.Jobs[i].Name] = b.Jobs[i].Name, grid.Names(b.Jobs[i].dependencies()), i
	}
	if _, loop := grid.InOrder(names, after); loop != nil {
		return []error{&huma.ErrorDetail{Location: fmt.Sprintf("body.jobs[%d].after", place[loop[0]]),
			Message: "the jobs depend on each other in a cycle: " + strings.Join(loop, " -> ")}}
	}
	for i := range jobs {
		for _, d := range b.Jobs[i].dependencies() {
			if at, here := place[d.Job]; here {
				d.Job = jobs[at].Name
			}
			jobs[i].After = append(jobs[i].After, d)
		}
	}
	return nil
}

// Users lists the users with jobs in the batch, in order of name.
func (b *Batch) Users() []string {
	var list []string
	for i := range b.Jobs {
		list = append(list, b.Jobs[i].User)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Suffixes returns the suffixes of a new batch.
func (b *Batch) Suffixes() map[string]string {
	all := map[string]string{}
	for _, user := range b.Users() {
		all[user] = LettersOf(b.ID + "\n" + user) // an identity has no line break
	}
	return all
}

// LettersOf is 40 bits of the hash of a text, in eight letters.
func LettersOf(text string) string {
	h := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.StdEncoding.EncodeToString(h[:5]))
}

// digest is a hash of the batch's content. Spans stay spans, so that it does not depend
// on the time of the submission. Nor does it depend on price caps, which follow the sites'
// prices.
func (b *Batch) digest() string {
	content := *b
	content.Jobs = slices.Clone(b.Jobs)
	for i := range content.Jobs {
		if r := &content.Jobs[i]; r.Capped {
			r.MaxPrice = nil
		}
	}
	text, err := json.Marshal(content)
	if err != nil {
		panic(err) // such a value can always be encoded
	}
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:16])
}

// Unpriced reports whether neither the job nor a part of it says what it may cost.
func (r *JobRequest) Unpriced() bool {
	return r.MaxPrice == nil && r.Budget == nil && !slices.ContainsFunc(r.Parts, func(p PartRequest) bool { return p.MaxPrice != nil })
}
