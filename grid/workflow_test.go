package grid_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

func TestInOrder_NamesTheLoop(t *testing.T) {
	t.Parallel()
	_, loop := grid.InOrder([]string{"a", "b", "c", "d"}, [][]string{{"b"}, {"c"}, {"d", "x"}, {"b"}})
	if got := strings.Join(loop, " -> "); got != "b -> c -> d -> b" {
		t.Errorf("the loop is %q", got)
	}
	if _, loop := grid.InOrder([]string{"a"}, [][]string{{"a"}}); strings.Join(loop, " -> ") != "a -> a" {
		t.Errorf("the loop is %q", loop)
	}
}

func TestInOrder_LeavesJobsThatAreInOrderWhereTheyAre(t *testing.T) {
	t.Parallel()
	order, loop := grid.InOrder([]string{"a", "b", "c"}, [][]string{nil, {"a"}, {"elsewhere", "b", "a"}})
	if !slices.Equal(order, []int{0, 1, 2}) || loop != nil {
		t.Errorf("order %v, loop %v", order, loop)
	}
}

// A random graph either has an order in which every job stands after those that it comes after, or a
// loop of which each step is in the graph.
func TestInOrder_OrderOrLoop(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "jobs")
		names, after := make([]string, n), make([][]string, n)
		for i := range names {
			names[i] = string(rune('a' + i))
			for range rapid.IntRange(0, 2).Draw(t, "needs") {
				after[i] = append(after[i], string(rune('a'+rapid.IntRange(0, n).Draw(t, "need"))))
			}
		}
		order, loop := grid.InOrder(names, after)
		for i := 1; i < len(loop); i++ {
			if !slices.Contains(after[slices.Index(names, loop[i-1])], loop[i]) {
				t.Fatalf("%v is no loop of %v", loop, after)
			}
		}
		if loop != nil {
			if len(loop) < 2 || loop[0] != loop[len(loop)-1] {
				t.Fatalf("%v is no loop", loop)
			}
			return
		}
		if len(order) != n {
			t.Fatalf("%d of %d jobs are in the order %v", len(order), n, order)
		}
		for at, i := range order {
			for _, name := range after[i] {
				if p := slices.Index(names, name); p >= 0 && !slices.Contains(order[:at], p) {
					t.Fatalf("%s stands before %s, after which it comes", names[i], name)
				}
			}
		}
	})
}
