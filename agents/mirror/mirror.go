// Package mirror keeps the journals of agents on another host. A Keeper runs there and has
// a folder for each journal. A Disk is such a folder as the agent's process uses it: the
// second disk of a journal.Mirror. Both ends show certificates of the VO. An agent reaches
// only what it has kept itself.
//
// The package does not know what a journal holds. A journal has one writer. A second one
// is refused while the first is heard, unless it has the same claim: then it is the same
// process on a new connection.
package mirror

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A request is a frame: what to do, and the bytes for it. A reply is a frame too. A frame
// is two lengths (little-endian uint32), a line of JSON and the bytes.
type request struct {
	Do     string `json:"do"`
	Name   string `json:"name,omitempty"`   // of a file; of the journal to open
	To     string `json:"to,omitempty"`     // its new name
	Size   int64  `json:"size,omitempty"`   // to which to cut it; how much to read
	Offset int64  `json:"offset,omitempty"` // where to read
	Claim  string `json:"claim,omitempty"`  // of the journal of which the caller believes this to be the mirror
}

// What a caller may request. A do is answered. A say is not: if it fails, the next do
// reports that.
const (
	doOpen      = "open"
	doList      = "list"
	doNames     = "names"
	doRead      = "read"
	doSize      = "size"
	doSync      = "sync"
	doTruncate  = "truncate"
	doSyncNames = "sync-names"
	doStill     = "still" // the caller is still there

	sayAppend = "append"
	sayRename = "rename"
	sayRemove = "remove"
)

// said reports whether a request is not answered.
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

// quiet is how long a connected end may send nothing before it counts as gone. stillEvery
// is how often a caller with nothing to send says that it is there.
const (
	quiet      = 15 * time.Second
	stillEvery = 5 * time.Second
)

// writeFrame writes a frame. One that is too large is an error.
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
