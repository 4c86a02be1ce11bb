package main

import (
	"testing"

	"github.com/bourse-grid/bourse/configs"
)

// Users of several VOs may have one account: it is tried once, and remarked on once.
func TestBehind_TriesEachAccountOnce(t *testing.T) {
	t.Parallel()
	var tried []string
	b := behind{account: func(as string) (string, error) {
		tried = append(tried, as)
		return "account " + as, nil
	}}
	remarks, err := b.accounts([]configs.Account{{User: "a/*", As: "pool"}, {User: "b/*", As: "pool"}, {User: "b/ana", As: "ana"}})
	if err != nil || len(tried) != 2 || len(remarks) != 2 || remarks[0] != "account pool" || remarks[1] != "account ana" {
		t.Errorf("tried %q, remarks %q, %v", tried, remarks, err)
	}
}
