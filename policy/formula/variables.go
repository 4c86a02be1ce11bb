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
