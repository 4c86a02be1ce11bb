// Package admission decides which jobs with deadlines a site takes, and how its
// nodes serve them: Libra and LibraRisk on time-shared nodes, earliest deadline
// first on nodes that run one task at a time (Yeo and Buyya, "Managing Risk of
// Inaccurate Runtime Estimates for Deadline Constrained Job Admission Control in
// Clusters").
//
// A control decides by estimates alone. How long a job really runs is told to a
// Server so that it can say when the job ends, and no decision ever looks at it.
// The package knows no clock, draws nothing and does no I/O: whoever owns a
// Server moves its time.
//
// Shares of a processor are floating-point numbers, the only ones of the core
// rooms. They are compared with a tolerance of 1e-9, products are rounded before
// they are summed (no fused operations, so that all machines agree), and ends
// are rounded up to the millisecond.
package admission
