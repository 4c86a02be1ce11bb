// Package configs reads the project's TOML files into typed values: a scenario
// (sites, brokers and their workloads, for simulations), a site's snapshot (for
// quotes), a broker, the process of either, a batch of jobs. Every default is
// filled in, every value is in its range, every name that a file uses is one
// that it defines; whoever gets a result need not check it again.
//
// It is strict. A key that nobody would read is an error with the nearest key
// that somebody would; so is a key of something that is not built yet. A file's
// problems are reported all at once, each with file, line, key, what is wrong
// and what would be right.
//
// It opens the file that it is told to read and nothing else: not the traces,
// not the batches that a scenario names. It starts nothing and builds no agents,
// but says what they are configured by.
package configs
