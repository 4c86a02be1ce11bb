// Package shadow follows a Slurm cluster with read rights alone and writes down what a site
// would have sold there, or finds that in a record. It runs none of Slurm's commands but
// those that show something.
package shadow
