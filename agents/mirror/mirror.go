// Package mirror keeps the journals of agents on another host: Keep runs there and has a
// folder for each, Disk is such a folder as the agent's process uses it, the second disk
// of a journal.Mirror. Both ends show certificates of the VO; an agent reaches what it
// has kept itself, and nothing else.
//
// It knows nothing of what a journal holds. One journal has one writer: a second one is
// refused while the first is heard, unless it comes with the same claim, which is then
// the same process on a new connection.
package mirror

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A request is a frame with what is to be done and the bytes for it; so is a reply. A
// frame is two lengths, little-endian uint32, a line of JSON and the bytes.
type request struct {
	Do     string `json:"do"`
	Name   string `json:"name,omitempty"`   // of a file; of the journal to open
	To     string `json:"to,omitempty"`     // its new name
	Size   int64  `json:"size,omitempty"`   // to cut it to; how much to read
	Offset int64  `json:"offset,omitempty"` // where to read
	Claim  string `json:"claim,omitempty"`  // whose mirror the caller takes it for
}

// What a caller may ask. Those that are said change something whose failure shows with
// the next that is asked.
const (
	doOpen      = "open"
	doList      = "list"
	doNames     = "names"
	doRead      = "read"
	doSize      = "size"
	doSync      = "sync"
	doTruncate  = "truncate"
	doSyncNames = "sync-names"
	doStill     = "still" // the caller is there

	sayAppend = "append"
	sayRename = "rename"
	sayRemove = "remove"
)

// said reports whether nothing is answered.
func said(do string) bool { return do == sayAppend || do == sayRename || do == sayRemove }

type reply struct {
	Error string   `json:"error,omitempty"`
	Gone  bool     `json:"gone,omitempty"` // the file does not exist
	Names []string `json:"names,omitempty"`
	Size  int64    `json:"size,omitempty"`
}

// Bounds of a frame.
const (
	maxHead  = 1 << 20
	maxBytes = 4 << 20
)

// quiet is how long an end that is connected may say nothing before it counts as gone,
// stillEvery how often a caller that has nothing to say says so.
const (
	quiet      = 15 * time.Second
	stillEvery = 5 * time.Second
)

// writeFrame writes a frame. One that is too large is refused.
func writeFrame(w io.Writer, head any, data []byte) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if len(text) > maxHead || len(data) > maxBytes {
		return fmt.Errorf("a frame of %d and %d bytes is above the bound of %d and %d", len(text), len(data), maxHead, maxBytes)
	}
	b := make([]byte, 8, 8+len(text)+len(data))
	binary.LittleEndian.PutUint32(b, uint32(len(text)))
	binary.LittleEndian.PutUint32(b[4:], uint32(len(data)))
	_, err = w.Write(append(append(b, text...), data...))
	return err
}

// readFrame reads a frame into head.
func readFrame(r io.Reader, head any) (data []byte, err error) {
	var sizes [8]byte
	if _, err := io.ReadFull(r, sizes[:]); err != nil {
		return nil, err
	}
	text, bytes := binary.LittleEndian.Uint32(sizes[:]), binary.LittleEndian.Uint32(sizes[4:])
	if text > maxHead || bytes > maxBytes {
		return nil, errors.New("what comes is no frame of a mirror; is something else at this address?")
	}
	data = make([]byte, text+bytes)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	return data[text:], json.Unmarshal(data[:text], head)
}
