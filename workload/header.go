package workload

import (
	"strconv"
	"strings"
)

// Header has the comment lines of a trace, each with its semicolon and without its line
// end. The value of a line "; Key: value" can be read by its key.
type Header struct {
	Lines []string
}

// Get returns the value of the first line with that key ("Computer", "UnixStartTime"),
// ignoring case; "" if there is none.
func (h *Header) Get(key string) string {
	for _, line := range h.Lines {
		if k, v := keyValue(line); strings.EqualFold(k, key) {
			return v
		}
	}
	return ""
}

// Int returns the whole number at the beginning of a key's value (128 for "MaxProcs: 128
// (two are down)"); false if there is none.
func (h *Header) Int(key string) (int64, bool) {
	word, _, _ := strings.Cut(h.Get(key), " ")
	v, err := strconv.ParseInt(word, 10, 64)
	return v, err == nil
}

// Processors returns the size of the machine according to the header: MaxProcs, else
// MaxNodes, else 0. Headers can be wrong; prefer better information.
func (h *Header) Processors() int {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		if v, ok := h.Int(key); ok && v > 0 && v <= maxProcessors {
			return int(v)
		}
	}
	return 0
}

// Name is a numbered name of a header: a queue or a partition.
type Name struct {
	Number int64
	Name   string
}

// Names lists the numbered names of a key ("Queue", "Partition"), from lines such as
// "; Queue: 3 normal", in the order of the header.
func (h *Header) Names(key string) []Name {
	var names []Name
	for _, line := range h.Lines {
		k, v := keyValue(line)
		if !strings.EqualFold(k, key) {
			continue
		}
		word, rest, _ := strings.Cut(v, " ")
		if n, err := strconv.ParseInt(word, 10, 64); err == nil {
			names = append(names, Name{n, strings.TrimSpace(rest)})
		}
	}
	return names
}

// Add appends a line "; key: value".
func (h *Header) Add(key, value string) {
	h.Lines = append(h.Lines, "; "+key+": "+value)
}

// keyValue splits a header line into key and value. Continuation lines ("; " and three
// spaces) and free text have no key.
func keyValue(line string) (key, value string) {
	text := strings.TrimPrefix(strings.TrimLeft(line, " \t"), ";")
	k, v, ok := strings.Cut(text, ":")
	if !ok || strings.HasPrefix(text, "  ") {
		return "", ""
	}
	return strings.TrimSpace(k), strings.TrimSpace(v)
}
