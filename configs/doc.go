// Package configs reads the project's TOML files into typed values: a scenario (sites,
// brokers and their workloads, for simulations), a site's snapshot (for quotes), a broker,
// the process of a site or broker, a batch of jobs, a sweep. In a result all defaults are
// filled in, all values are in range, and every name that is used is defined, so callers
// need not check it again.
//
// The package is strict. An unknown key is an error that suggests the nearest known key; a
// key of a feature that does not exist yet is also an error. All problems of a file are
// reported at once, each with file, line, key, problem and remedy. Which keys there are is said here,
// by lists of them; package keys reads files by such lists.
//
// Besides the given file, it opens only the batch files, price files and scripts that the file
// names; it never opens traces. It starts nothing and builds no agents, but it makes their
// configurations.
package configs
