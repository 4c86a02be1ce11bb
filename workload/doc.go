// Package workload reads and writes workloads in the Standard Workload Format 2.2 (Chapin
// et al. 1999) and in the Grid Workload Format (Iosup et al. 2008), and draws synthetic
// ones: the model of Lublin and Feitelson (2003), a uniform model, and the jobs that users
// submit to a broker.
//
// A trace is kept as it was written, all 18 fields with all their decimals, so that reading
// and writing it loses nothing. Errors in a file are left out or put in order, and counted,
// never guessed at; Options.Strict refuses them instead. Trace.Jobs turns the records into
// the jobs of a site's queue by the rules of Singh, Kesselman and Deelman's experiments.
//
// Nothing here schedules, reads a clock or draws random numbers without a given seed. Each
// purpose of a model (gaps, nodes, runs, estimates) has its own stream, so that one does
// not shift another.
package workload
