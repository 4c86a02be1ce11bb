package view

// jobColumns are jobs by columns: without the names of fields for each, a browser reads
// many in a third of the time. Words that many share stand once.
type jobColumns struct {
	Words  []string  `json:"words"`
	ID     []string  `json:"id,omitempty"` // not where all are of VO and name
	VO     []int     `json:"vo"`           // of words, like the next four
	User   []int     `json:"user"`
	State  []int     `json:"state"`
	Why    []int     `json:"why"`
	Sites  [][]int   `json:"sites"`
	Name   []string  `json:"name"`
	Submit []int64   `json:"submit"`
	Start  []*int64  `json:"start"`
	End    []*int64  `json:"end"`
	Nodes  []int     `json:"nodes"`
	Cost   []*int64  `json:"cost"`
	Price  []float64 `json:"price"`

	index map[string]int
}

// PackJobs packs jobs, none of which may be marked as gone.
func PackJobs(jobs []Job) (Packed, error) {
	c := &jobColumns{Words: []string{""}, index: map[string]int{"": 0}}
	whole := false // whether there is an ID of its own
	for i := range jobs {
		j := &jobs[i]
		whole = whole || j.ID != j.VO+"/"+j.Name
		c.VO, c.User, c.State, c.Why = append(c.VO, c.word(j.VO)), append(c.User, c.word(j.User)), append(c.State, c.word(j.State)), append(c.Why, c.word(j.Why))
		sites := make([]int, len(j.Sites))
		for k, s := range j.Sites {
			sites[k] = c.word(s)
		}
		c.Sites, c.Name = append(c.Sites, sites), append(c.Name, j.Name)
		c.Submit, c.Start, c.End = append(c.Submit, j.Submit), append(c.Start, j.Start), append(c.End, j.End)
		c.Nodes, c.Cost, c.Price = append(c.Nodes, j.Nodes), append(c.Cost, j.Cost), append(c.Price, j.Price)
	}
	for i := range jobs {
		if whole {
			c.ID = append(c.ID, jobs[i].ID)
		}
	}
	return Pack(c)
}

func (c *jobColumns) word(s string) int {
	i, ok := c.index[s]
	if !ok {
		i = len(c.Words)
		c.index[s], c.Words = i, append(c.Words, s)
	}
	return i
}
