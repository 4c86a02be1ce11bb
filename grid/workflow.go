package grid

import "slices"

// InOrder sorts jobs, each named once, so that each follows the jobs it comes after, and
// otherwise keeps their order. It returns their indices. Names in after that are not in the
// list are ignored. If there is a loop there is no order, and InOrder returns the loop
// instead, from a job back to itself. Time and memory are linear in the number of jobs and
// names.
func InOrder(names []string, after [][]string) (order []int, loop []string) {
	place := make(map[string]int, len(names))
	for i, name := range names {
		place[name] = i
	}
	const (
		open = iota + 1
		done
	)
	state := make([]uint8, len(names))
	type visit struct{ job, next int }
	for first := range names {
		if state[first] == done {
			continue
		}
		state[first] = open
		for path := []visit{{job: first}}; len(path) > 0; {
			v := &path[len(path)-1]
			if v.next == len(after[v.job]) {
				state[v.job] = done
				order = append(order, v.job)
				path = path[:len(path)-1]
				continue
			}
			at, known := place[after[v.job][v.next]]
			v.next++
			switch {
			case !known || state[at] == done:
			case state[at] == open:
				from := slices.IndexFunc(path, func(v visit) bool { return v.job == at })
				for _, v := range path[from:] {
					loop = append(loop, names[v.job])
				}
				return nil, append(loop, names[at])
			default:
				state[at] = open
				path = append(path, visit{job: at})
			}
		}
	}
	return order, nil
}
