package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/web/api"
)

// Granted terms carry a mark, in the accounts too. After a reset the file's terms hold again.
// Nonsense is refused before any agent is asked.
func TestUsers_GrantedShownAndReset(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	said := func(args string, want ...string) string {
		t.Helper()
		out, _, err := f.run(strings.Fields(args)...)
		for _, w := range want {
			if err != nil || !strings.Contains(out, w) {
				t.Fatalf("%s: %v, want %q in\n%s", args, err, w, out)
			}
		}
		return out
	}
	said("users grant --tenant physics max_nodes=256 node_hours=5000 period=7d", "physics", "max_nodes=256!", "period=7d!")
	said("users grant ana --in physics max_priority=10", "physics!", "max_priority=10!")
	said("users grant * max_waiting=50", "*", "max_waiting=50!")
	var list api.Tenancy
	if err := json.Unmarshal([]byte(said("users --json")), &list); err != nil || len(list.Tenants) != 1 || len(list.Users) != 2 ||
		list.Users[1].Name != "ana" || list.Users[1].Tenant != "physics" || list.Users[1].Source != "granted" {
		t.Errorf("%v, %+v", err, list)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"users grant ana", 2, "nothing to grant"},
		{"users grant ana luck=9", 2, `no term "luck"`},
		{"users grant ana max_nodes", 2, "TERM=VALUE"},
		{"users grant ana max_nodes=0", 2, "max_nodes"},
		{"users grant ana period=30h", 2, "whole days"},
		{"users grant ana --in chemistry", 2, "no tenant"},
		{"users grant --tenant physics quota=5", 2, "quota is of users"},
		{"users reset ana luck", 2, "no term"},
		{"users grant", 2, "a user or tenant and its terms"},
		{"users ana", 2, "no arguments"},
	} {
		if _, _, err := f.run(strings.Fields(c.args)...); exitCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: exit %d, %v; want %d, %q", c.args, exitCode(err), err, c.code, c.says)
		}
	}
	said("users reset ana max_priority", "physics!")
	if out := said("users"); strings.Contains(out, "max_priority") {
		t.Errorf("reset, and still there:\n%s", out)
	}
	said("users reset ana")
	said("users reset *")
	if out := said("users reset --tenant physics"); strings.Contains(out, "physics") || strings.Contains(out, "ana") {
		t.Errorf("all is reset, and this is left:\n%s", out)
	}
}
