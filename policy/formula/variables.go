package formula

import "github.com/bourse-grid/bourse/policy/names"

// Values are the variables of one job at one instant, by Variable.
type Values [variableCount]float64

// Variable is what a formula may read of a job. Times are in seconds.
type Variable uint8

// The variables.
const (
	Wait      Variable = iota // since its submission
	Estimate                  // the run time that its user asked for
	Predicted                 // the run time that plans assume
	Nodes
	Submit   // since the zero of the queue's clock
	Now      // likewise
	Usage    // the user's past node-seconds, decayed
	Priority // of its queue
	Queue    // its place in the file, from 1; 0: it is in none
	Capacity // nodes of the group
	variableCount
)

// variables is the table of them.
var variables = names.Table[Variable, struct{}]{Kind: "variable", Lines: []names.Line[struct{}]{
	Wait:      {Name: "wait", Means: "seconds since its submission"},
	Estimate:  {Name: "estimate", Means: "the run time that it asked for, in seconds"},
	Predicted: {Name: "predicted", Means: "the run time that plans assume, in seconds"},
	Nodes:     {Name: "nodes", Means: "its nodes"},
	Submit:    {Name: "submit", Means: "its submission, in seconds since the first job replayed, or since a scenario's zero"},
	Now:       {Name: "now", Means: "this instant, by the same clock"},
	Usage:     {Name: "usage", Means: "its user's past node-seconds, which decay by half_life"},
	Priority:  {Name: "priority", Means: "the priority of its named queue"},
	Queue:     {Name: "queue", Means: "the place of its named queue in the file, from 1; 0: none"},
	Capacity:  {Name: "capacity", Means: "the nodes of its group"},
}}

// Variables returns the variables with what they mean.
func Variables() []names.Policy { return variables.Policies() }

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
