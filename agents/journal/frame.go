package journal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
)

// A record on the disk is a frame and a payload:
//
//	0   uint32  length of the payload in bytes
//	4   uint32  CRC-32C of the length, the number and the payload
//	8   uint64  number of the record
//	16  payload
//
// all little-endian. The number shows a record that is missing or appears twice.
const frameSize = 16

// maxPayload bounds a record: the image of a very large agent. A greater length is damage.
const maxPayload = 1 << 30

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends a frame whose payload the caller appends after it; seal
// then fills it in.
func appendFrame(b []byte) []byte { return append(b, make([]byte, frameSize)...) }

// seal fills in the frame of the record that begins at b[at:] and ends with b. A payload
// above maxPayload is an error.
func seal(b []byte, at int, number uint64) error {
	n := len(b) - at - frameSize
	if n > maxPayload {
		return fmt.Errorf("a record of %d bytes is above the bound of %d", n, maxPayload)
	}
	r := b[at:]
	binary.LittleEndian.PutUint32(r[0:], uint32(n))
	binary.LittleEndian.PutUint64(r[8:], number)
	binary.LittleEndian.PutUint32(r[4:], checksum(r))
	return nil
}

// checksum returns the checksum of the record in r.
func checksum(r []byte) uint32 {
	sum := crc32.Update(0, castagnoli, r[:4])
	return crc32.Update(sum, castagnoli, r[8:])
}

// frame is a record as it is in a file.
type frame struct {
	offset  int64
	number  uint64
	payload []byte // a part of the file's bytes
}

// wholeAt returns the record at an offset of a file; false if there is no whole
// one.
func wholeAt(data []byte, offset int) (frame, bool) {
	r := data[offset:]
	if len(r) < frameSize {
		return frame{}, false
	}
	n := binary.LittleEndian.Uint32(r)
	if n == 0 || n > maxPayload || int64(n) > int64(len(r)-frameSize) {
		return frame{}, false
	}
	r = r[:frameSize+int(n)]
	if checksum(r) != binary.LittleEndian.Uint32(r[4:]) {
		return frame{}, false
	}
	return frame{offset: int64(offset), number: binary.LittleEndian.Uint64(r[8:]), payload: r[frameSize:]}, true
}

// end returns the offset after the record.
func (f *frame) end() int { return int(f.offset) + frameSize + len(f.payload) }

// wholeAfter returns the offset of the first whole record that begins after offset,
// whatever is between, or -1 if there is none. Text has no byte below 9, so nearly every
// position is ruled out by its length alone.
func wholeAfter(data []byte, offset int) int {
	for p := offset + 1; p <= len(data)-frameSize; p++ {
		if _, ok := wholeAt(data, p); ok {
			return p
		}
	}
	return -1
}

// flipped reports whether the last record of a file, which begins at offset and is not
// whole, would be whole with one bit flipped. A crash leaves records that are cut short or
// contain other bytes, but not such records, so this is damage. The effect of a bit on a
// checksum depends only on its distance from the end, so one pass over the bits is enough.
func flipped(data []byte, offset int) bool {
	r := slices.Clone(data[offset:])
	if len(r) <= frameSize || len(r)-frameSize > maxPayload {
		return false
	}
	var length [4]byte
	binary.LittleEndian.PutUint32(length[:], uint32(len(r)-frameSize))
	wrong := bits.OnesCount32(binary.LittleEndian.Uint32(r) ^ binary.LittleEndian.Uint32(length[:]))
	copy(r, length[:])
	off := checksum(r) ^ binary.LittleEndian.Uint32(r[4:])
	if wrong > 0 || off == 0 {
		return wrong == 1 && off == 0 // the bit was in the length
	}
	if bits.OnesCount32(off) == 1 { // the bit was in the checksum
		return true
	}
	syndrome := uint32(crc32.Castagnoli) // of the last bit
	for range 8 * (len(r) - 8) {         // the number and the payload
		if syndrome == off {
			return true
		}
		if syndrome&1 > 0 {
			syndrome = syndrome>>1 ^ crc32.Castagnoli
		} else {
			syndrome >>= 1
		}
	}
	return false
}

// CorruptError says where a journal is damaged. The journal was not changed.
type CorruptError struct {
	File   string
	Offset int64 // of the first damaged byte
	Why    string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: damaged at byte %d: %s", e.File, e.Offset, e.Why)
}

// OtherReleaseError says that what a journal holds is not known to this build, though it is
// as it was written: by another release, as a rule a later one. The journal was not changed.
type OtherReleaseError struct {
	File string
	Why  string
	head *CorruptError // if it is in the head, whose first line no checksum covers
}

func (e *OtherReleaseError) Error() string {
	return fmt.Sprintf("%s: %s: another release of bourse, as a rule a later one, has written it. Start that release again, "+
		"or restore the copy that was made before the upgrade (docs/OPERATING.md, Upgrade)", e.File, e.Why)
}

// Unwrap returns a *CorruptError if damage is the other possible reason.
func (e *OtherReleaseError) Unwrap() error {
	if e.head == nil {
		return nil
	}
	return e.head
}

// scan splits what follows the header of a segment into frames: the parts of its image, all
// with the number of the last fact before it, and facts. It stops at a torn tail and
// returns its offset, or the length of the file if there is none. Damage before whole
// records is a CorruptError, since a torn tail can only be at the end.
func scan(file string, data []byte, offset int, h Header) ([]frame, int, error) {
	parts := h.parts()
	frames := make([]frame, 0, min((len(data)-offset)/256+1, math.MaxInt32))
	for offset < len(data) {
		f, ok := wholeAt(data, offset)
		if !ok {
			if next := wholeAfter(data, offset); next >= 0 {
				return frames, offset, &CorruptError{file, int64(offset), fmt.Sprintf(
					"no whole record here, but one at byte %d; bring the file back from a copy", next)}
			}
			if flipped(data, offset) {
				return frames, offset, &CorruptError{file, int64(offset), "one bit of its last record is not as it was written; bring the file back from a copy"}
			}
			break
		}
		if want := h.Records + uint64(max(len(frames)-parts+1, 0)); f.number != want {
			return frames, offset, &CorruptError{file, int64(offset), fmt.Sprintf(
				"record %d stands where record %d should; bring the file back from a copy", f.number, want)}
		}
		frames = append(frames, f)
		offset = f.end()
	}
	return frames, offset, nil
}
