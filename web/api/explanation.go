package api

import (
	"fmt"
	"regexp"
	"sync"
	"time"
)

// Explanation explains the state of a job.
type Explanation struct {
	ID    string      `json:"id"`
	Words string      `json:"words" doc:"for a terminal"`
	Value any         `json:"value" doc:"the same for programs"`
	Sites []SiteQuote `json:"sites,omitempty" doc:"of a job that waits, and of sites that forecast their queues, in order of name: what each has for it now"`
}

// Here is Words with the instants by the clock of now's zone. They have no year in them: of
// those around now it is the one in which they are nearest to it. Lines break where they did.
func (e *Explanation) Here(now time.Time) string {
	return brief().ReplaceAllStringFunc(e.Words, func(s string) string {
		m := brief().FindStringSubmatch(s)
		var best time.Time
		for year := now.Year() - 1; year <= now.Year()+1; year++ {
			t, err := time.Parse("2006 Jan 2 15:04:05", fmt.Sprint(year, " ", m[1], " ", m[3], " ", m[5]))
			if err == nil && (best.IsZero() || t.Sub(now).Abs() < best.Sub(now).Abs()) {
				best = t
			}
		}
		if best.IsZero() {
			return s
		}
		return best.In(now.Location()).Format("Jan" + m[2] + "2" + m[4] + "15:04:05")
	})
}

// brief finds an instant as a broker's process writes it in an explanation, in one line or two.
var brief = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)(\s+)(\d{1,2})(\s+)(\d\d:\d\d:\d\d)Z`)
})
