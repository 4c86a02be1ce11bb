// Package slurmdump reads what Slurm's files and commands say of a cluster, for its twin
// (policy/slurm): slurm.conf with its Includes, or what scontrol show config prints;
// scontrol show partition, node and res with -o; sacctmgr show qos and assoc with -P, or
// sacctmgr dump; sshare -alP; and the jobs, sacct -aXPD with the columns it needs.
//
// Keys are read in any case, and the last of two holds. What the twin does not use is named,
// not refused. A value that cannot be read, and whatever would make the twin wrong without a
// word (preemption, another scheduler, a partition that is not there), is an error with the
// file, the line, the key and the remedy.
package slurmdump
