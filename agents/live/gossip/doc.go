// Package gossip announces a process to the others of its VO and hears of them, over memberlist.
// It passes on what it hears as bytes, and knows neither agents nor their messages. What anyone who
// reaches the port can cause is counted by cause and logged sparingly.
package gossip
