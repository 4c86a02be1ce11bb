// Package drill checks what the documents promise on real processes. Its tests build
// bourse, run sites and a broker as children, with certificates, gossip and journals on a
// disk, and do to them what happens to processes. They are killed, stopped and moved; their
// disks fill; their journals are of the past; strangers call them; networks are cut.
// simulation/torture does the same to the agents alone, in virtual time and some thousand
// times as often.
//
// What holds is judged from outside: by what clients of the API were told, by the journals
// on disk, and by the log lines that docs/FAILURES.md, docs/SECURITY.md and docs/BACKUP.md
// promise to an operator. The package ships no code.
//
// Flags of the test, all after the package:
//
//	-drill.long     the long forms
//	-drill.seed     other moments
//	-drill.speed    the table of docs/internals/PERFORMANCE.md
//	-drill.against  another binary's figures beside it
//	-drill.crowd    that many sites of one broker there
//	-drill.kills    that many leaders of replicas killed
//	-drill.hostile  that many jobs of each of two VOs, one of them hostile
//	-drill.count    that many co-allocations over real Slurm clusters
//	-drill.within   no more of those begin after this time
//	-drill.keep     the folders are left where they are
//	-drill.last     the commit to upgrade from, in place of the last release
//	-drill.bourse   another binary to drill
package drill
