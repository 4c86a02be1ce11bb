package selection

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// option is an alternative that no other of its job beats. z is bounded by the limit, and g
// is minimised.
type option struct {
	z, g  int64
	index int32
}

// options are those of the jobs that have alternatives. A job's options are in ascending
// order of z and descending order of g.
type options struct {
	list  []option
	jobs  []int
	first []int // list[first[k]:first[k+1]] are those of jobs[k]
}

// open collects the options of the jobs: alternatives that end by most and that no other
// beats in z and g; of equal ones the lowest. It reports false iff some job has
// alternatives but none ends by then.
func (o *options) open(jobs [][]Alternative, most grid.Time, z, g criterion) bool {
	o.clear()
	for j, alternatives := range jobs {
		if len(alternatives) == 0 {
			continue
		}
		at := len(o.list)
		for i := range alternatives {
			if a := &alternatives[i]; a.End <= most {
				o.list = append(o.list, option{z(a), g(a), int32(i)})
			}
		}
		mine := o.list[at:]
		if len(mine) == 0 {
			return false
		}
		slices.SortFunc(mine, func(x, y option) int {
			return cmp.Or(cmp.Compare(x.z, y.z), cmp.Compare(x.g, y.g), cmp.Compare(x.index, y.index))
		})
		w := 1
		for _, x := range mine[1:] {
			if x.g < mine[w-1].g {
				mine[w] = x
				w++
			}
		}
		o.list = o.list[:at+w]
		o.close(j)
	}
	return true
}

func (o *options) clear() {
	o.list, o.jobs, o.first = o.list[:0], o.jobs[:0], append(o.first[:0], 0)
}

// close records that all options of job j are in the list.
func (o *options) close(j int) {
	o.jobs = append(o.jobs, j)
	o.first = append(o.first, len(o.list))
}

// of returns the options of the k-th job.
func (o *options) of(k int) []option { return o.list[o.first[k]:o.first[k+1]] }

// least returns the least possible sum of z.
func (o *options) least() int64 {
	z := int64(0)
	for k := range o.jobs {
		z += o.of(k)[0].z
	}
	return z
}
