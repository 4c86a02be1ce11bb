// Package admission decides which jobs with deadlines a site accepts, and how its nodes
// serve them: Libra and LibraRisk on time-shared nodes, earliest deadline first on nodes
// that run one task at a time (Yeo and Buyya, "Managing Risk of Inaccurate Runtime
// Estimates for Deadline Constrained Job Admission Control in Clusters").
//
// A control decides only by estimates. A Server is told how long a job really runs so that
// it can say when the job ends; no decision uses that. The package has no clock and no
// randomness, and does no I/O: the owner of a Server advances its time.
//
// Shares of a processor are floating-point numbers, the only ones in the deterministic
// core. They are compared with a tolerance of 1e-9, products are rounded before they are
// summed (no fused operations, so that all machines agree), and ends are rounded up to the
// millisecond.
package admission
