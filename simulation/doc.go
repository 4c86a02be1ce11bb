// Package simulation brings a scenario to life in virtual time: its sites, their
// clusters, brokers and users, one world a seed. It runs one seed or many, a sweep
// over settings, and the replay of one trace on one cluster, and holds a run
// against the protocol's invariants where that is asked for. The same scenario and
// seed give the same facts, byte for byte.
//
// It decides nothing: agents do. Beside it stand torture, the world with every
// fault, and drill, the same against real processes.
package simulation
