package api

// Explanation explains the state of a job.
type Explanation struct {
	ID    string      `json:"id"`
	Words string      `json:"words" doc:"for a terminal"`
	Value any         `json:"value" doc:"the same for programs"`
	Sites []SiteQuote `json:"sites,omitempty" doc:"of a job that waits, and of sites that forecast their queues, in order of name: what each has for it now"`
}
