package journal

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// beyond returns how many facts a mirror has that continue after the last one of the main
// disk; 0 if the main disk has as many, or others in their place.
func beyond(main, mirror Disk) (uint64, error) {
	list, err := segments(main)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	kept, err := segments(mirror)
	if err != nil || len(kept) == 0 || kept[len(kept)-1] < list[len(list)-1] {
		return 0, err
	}
	last := list[len(list)-1]
	data, err := main.Read(segmentName(last))
	if err != nil {
		return 0, err
	}
	s, err := readSegment(place(main, segmentName(last)), data)
	if err != nil {
		return 0, fmt.Errorf("%w. What the mirror has is brought back with bourse journal restore", err)
	}
	if !slices.Contains(kept, last) { // it has removed that one after an image, which the main disk has lost
		return 0, &CorruptError{s.file, int64(s.end), fmt.Sprintf("the journal ends here, and that on the mirror goes on with segments %d to %d. "+
			"What the mirror has is brought back with bourse journal restore", kept[0], kept[len(kept)-1])}
	}
	other, err := mirror.Read(segmentName(last))
	if err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(other, data[:s.end]) {
		return 0, nil
	}
	run, err := tail(mirror)
	if err != nil {
		return 0, nil //nolint:nilerr // a damaged mirror is made again
	}
	end := run[len(run)-1]
	if has, had := end.Records+end.Facts, s.header.Records+s.facts(); has > had || end.Segment > last {
		return max(has-had, 1), nil
	}
	return 0, nil
}

// tail returns the segments of a disk that follow each other up to the last one. These are
// all segments, unless a mirror was being filled.
func tail(disk Disk) ([]Segment, error) {
	list, err := segments(disk)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: there is no journal in this folder", strings.TrimSuffix(place(disk, ""), "/"))
	}
	var run []Segment
	var next *segment
	for i := len(list) - 1; i >= 0; i-- {
		s, err := load(disk, list[i])
		if err != nil {
			return nil, err
		}
		one := Segment{s.file, s.header, s.facts(), s.torn}
		if next != nil && (s.torn > 0 || follows([]Segment{one}, next) != nil) {
			break
		}
		run, next = append(run, one), s
	}
	slices.Reverse(run)
	return run, nil
}

// Restore copies a journal from its mirror to an empty disk, and claims the mirror for it:
// the original journal can no longer use it. It returns the copied segments. A torn end is
// left out. The mirror must be the caller's alone. A plain copy, which is no journal's
// mirror, is only read.
func Restore(mirror, to Disk) ([]Segment, error) {
	has, err := to.Names()
	if err != nil {
		return nil, err
	}
	if has = slices.DeleteFunc(has, func(name string) bool { return name == "lock" }); len(has) > 0 {
		return nil, fmt.Errorf("%s is not empty: it has %s; use an empty folder", place(to, ""), has[0])
	}
	run, err := tail(mirror)
	if err != nil {
		return nil, err
	}
	word, err := readClaim(mirror)
	if err != nil {
		return nil, err
	}
	if word != "" {
		word = newClaim()
		if err := writeClaim(mirror, word); err != nil {
			return nil, err
		}
	}
	names, err := mirror.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		n, segment := segmentNumber(name)
		if ownFile(name) || segment && n < run[0].Segment || strings.HasSuffix(name, suffixNew) || strings.HasSuffix(name, suffixCopy) {
			continue
		}
		data, err := mirror.Read(name)
		if err != nil {
			return nil, err
		}
		if last := run[len(run)-1]; n == last.Segment {
			data = data[:len(data)-last.Torn]
		}
		if err := putFile(to, name, bytes.NewReader(data)); err != nil {
			return nil, err
		}
	}
	if word != "" {
		err = writeClaim(to, word)
	}
	return run, err
}
