package bourse

import "slices"

// InOrder puts jobs, each named once, in an order in which every one stands after
// those of the list that it comes after, and else as they stand: it returns their
// places. Names that are not in the list count for nothing. Where jobs come after
// one another in a loop there is no order, and it returns the loop instead, from a
// job back to the same. It takes time and memory as there are jobs and names.
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
