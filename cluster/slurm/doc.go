// Package slurm is the driver for Slurm, 22.05 to 26.05. It looks at a cluster, and changes
// reservations and jobs there, by Slurm's command line, which works in the same way in all
// of these versions. It remembers and decides nothing: the reconciler (cluster/managed)
// knows what should be there, and the driver carries out its commands. Looking needs no
// rights.
package slurm
