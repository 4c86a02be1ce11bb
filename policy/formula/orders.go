package formula

import "github.com/bourse-grid/bourse/policy/names"

// Order is an order with a name.
type Order uint8

type orderIs struct{ formula string }

// orders is the table of them. A new one is a line here.
var orders = names.Table[Order, orderIs]{Kind: "order", Lines: []names.Line[orderIs]{
	{Name: "fcfs", Means: "first come, first served", Is: orderIs{"submit"}},
	{Name: "sjf", Means: "the shortest job first", Is: orderIs{"estimate"}},
	{Name: "ljf", Means: "the longest job first", Is: orderIs{"-estimate"}},
	{Name: "sqf", Means: "the fewest nodes first", Is: orderIs{"nodes"}},
	{Name: "saf", Means: "the least area first", Is: orderIs{"estimate * nodes"}},
	{Name: "expansion", Means: "the largest expansion factor first", Is: orderIs{"-(wait + estimate) / estimate"}},
	{Name: "wfp3", Means: "long waits first, and large jobs (Tang et al. 2009)", Is: orderIs{"-(wait / estimate)^3 * nodes"}},
	{Name: "unicef", Means: "long waits first, and small jobs (Tang et al. 2009)", Is: orderIs{"-wait / (max(log2(nodes), 1e-9) * estimate)"}},
	{Name: "f1", Means: "learned (Carastan-Santos and de Camargo 2017); a large job may wait for months, as the term of age fades", Is: orderIs{"log10(estimate) * nodes + 870 * log10(submit)"}},
	{Name: "f2", Means: "learned, the second best", Is: orderIs{"sqrt(estimate) * nodes + 25600 * log10(submit)"}},
	{Name: "f3", Means: "learned, the third best", Is: orderIs{"estimate * nodes + 6860000 * log10(submit)"}},
	{Name: "f4", Means: "learned, the fourth best", Is: orderIs{"estimate * sqrt(nodes) + 530000 * log10(submit)"}},
}}

// Orders returns the orders by name, with what they do and their formulas.
func Orders() []names.Policy {
	list := orders.Policies()
	for i := range list {
		list[i].Means += ": " + orders.Lines[i].Is.formula
	}
	return list
}
