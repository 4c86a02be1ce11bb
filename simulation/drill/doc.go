// Package drill holds real processes to what the documents promise: its tests
// build bourse, run sites and a broker of it as children with certificates,
// gossip and journals on a disk, and do to them what happens to processes. They
// are killed, stopped and moved; their disks fill, their journals are of the
// past; strangers speak to them; networks come apart. It is the sibling of
// simulation/torture, which does the same to the agents alone, in virtual time and
// some thousand times as often.
//
// What holds is judged from outside: by what clients of the API were told, by
// the journals on the disk, and by the lines that docs/FAILURES.md,
// docs/SECURITY.md and docs/BACKUP.md promise an operator. The package ships no
// code.
//
// Flags of the test, all after the package: -drill.long for the long forms,
// -drill.seed for other moments, -drill.speed for the table of
// docs/PERFORMANCE.md, -drill.against for another binary's beside it, -drill.crowd for so
// many sites of one broker there, -drill.kills for so many leaders of replicas, -drill.keep to leave the folders where they are, -drill.bourse
// to hold another binary to it all.
package drill
