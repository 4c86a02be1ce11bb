// Package slurm is the driver of Slurm, 22.05 to 26.05: it looks at a cluster and
// changes reservations and jobs there by Slurm's command line, which works alike on
// all of these versions. It remembers nothing and decides nothing: what should be
// there is known to the reconciler (cluster/managed), whose commands it carries out.
// Reading needs no rights.
package slurm
