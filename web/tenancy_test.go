package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// Operators grant terms, which users see of themselves and their tenant alone, with where
// each is set; a job that a bound holds back says so.
func TestTenancy_OperatorsGrantAndUsersSeeTheirOwn(t *testing.T) {
	t.Parallel()
	h := world(t, func(c *broker.Config) {
		c.Holders = []grid.Holder{{Tenant: "physics", Terms: grid.Grants{grid.TermMaxNodes: 100}}, {User: "ana", In: "physics"}}
	})
	s := brokerAPI(t, h)
	for _, c := range []struct {
		who  string
		body any
		want int
		says string
	}{
		{ana, api.Grant{User: "ana", Terms: map[string]string{"max_nodes": "9"}}, 403, "only an operator"},
		{olga, api.Grant{User: "ana", Terms: map[string]string{"luck": "9"}}, 422, "there is no term"},
		{olga, api.Grant{User: "ana", Terms: map[string]string{"period": "30h"}}, 422, "whole days"},
		{olga, api.Grant{User: "ana", In: "chemistry"}, 422, "no tenant"},
		{olga, api.Grant{Terms: map[string]string{"share": "2"}}, 422, "name one of them"},
		{olga, api.Grant{User: "ana", Terms: map[string]string{"max_nodes": "1", "node_hours": "0.5"}}, 200, ""},
		{olga, api.Grant{User: "ben", Terms: map[string]string{"share": "2"}}, 200, ""},
	} {
		var p struct{ Detail string }
		if code := call(t, s, c.who, "POST", "/v1/tenancy", c.body, &p); code != c.want || !strings.Contains(p.Detail, c.says) {
			t.Errorf("%s %+v: %d %s, want %d %q", c.who, c.body, code, p.Detail, c.want, c.says)
		}
	}
	var own, all api.Tenancy
	call(t, s, ana, "GET", "/v1/tenancy", nil, &own)
	if len(own.Users) != 1 || own.Users[0].Tenant != "physics" || own.Users[0].Source != "file" || len(own.Tenants) != 1 ||
		own.Tenants[0].Terms[0] != (api.Term{Name: "max_nodes", Value: "100", Source: "file"}) ||
		own.Users[0].Terms[1] != (api.Term{Name: "max_nodes", Value: "1", Source: "granted"}) || own.Users[0].Terms[2] != (api.Term{Name: "node_hours", Value: "0.5", Source: "granted"}) {
		t.Errorf("ana sees %+v", own)
	}
	if call(t, s, olga, "GET", "/v1/tenancy", nil, &all); len(all.Users) != 3 || all.Users[0].Name != "*" || all.Users[2].Name != "ben" {
		t.Errorf("olga sees %+v", all)
	}
	var a api.Accounts
	if call(t, s, ana, "GET", "/v1/accounts", nil, &a); a.Users[0].Tenant != "physics" {
		t.Errorf("accounts %+v", a.Users)
	}
	if code := call(t, s, olga, "POST", "/v1/tenancy", api.Grant{User: "ana", Drop: []string{"max_nodes", "node_hours"}}, nil); code != 200 {
		t.Errorf("dropped: %d", code)
	}
}

// Entries that a list does not show are counted.
func TestTenancy_SaysHowManyAreNotShown(t *testing.T) {
	t.Parallel()
	h := world(t, func(c *broker.Config) {
		c.Holders, c.Quotas = nil, map[string]grid.Credits{}
		for k := range maxUsers + 3 {
			name := fmt.Sprintf("u%05d", k)
			c.Holders = append(c.Holders, grid.Holder{User: name, Terms: grid.Grants{grid.TermMaxNodes: 9}})
			c.Quotas[name] = grid.Credit
		}
	})
	s := brokerAPI(t, h)
	var terms api.Tenancy
	if call(t, s, olga, "GET", "/v1/tenancy", nil, &terms); len(terms.Users) != maxUsers || terms.More != 4 { // "*" too
		t.Errorf("%d users are shown, %d are not", len(terms.Users), terms.More)
	}
	var money api.Accounts
	if call(t, s, olga, "GET", "/v1/accounts", nil, &money); len(money.Users) != maxUsers || money.More != 3 {
		t.Errorf("the money of %d users is shown, of %d it is not", len(money.Users), money.More)
	}
}
