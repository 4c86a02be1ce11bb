package workload

import (
	"bytes"
	"fmt"
	"strings"
)

// splitCells parts a line into cells. Cells parted by anything but bars may stand in
// quotes, and lose the blanks around them.
func splitCells(line []byte, delim string) []string {
	text := string(line)
	if delim == "|" || !strings.Contains(text, `"`) {
		cells := strings.Split(text, delim)
		if delim != "|" {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
		}
		return cells
	}
	var cells []string
	for {
		text = strings.TrimLeft(text, " ")
		if !strings.HasPrefix(text, `"`) {
			cell, rest, more := strings.Cut(text, delim)
			cells = append(cells, strings.TrimSpace(cell))
			if text = rest; !more {
				return cells
			}
			continue
		}
		var cell strings.Builder
		for text = text[1:]; ; {
			part, rest, closed := strings.Cut(text, `"`)
			cell.WriteString(part)
			if text = rest; !closed || !strings.HasPrefix(text, `"`) {
				break
			}
			cell.WriteByte('"')
			text = text[1:]
		}
		after, rest, more := strings.Cut(text, delim)
		cells = append(cells, cell.String()+strings.TrimSpace(after))
		if text = rest; !more {
			return cells
		}
	}
}

// cellsBy parts a line by the delimiter that gives the most cells.
func cellsBy(line []byte) (cells []string) {
	for _, d := range delimiters {
		if c := splitCells(bytes.TrimRight(line, "\r"), d); len(c) > len(cells) {
			cells = c
		}
	}
	return cells
}

// namesSubmit reports whether a column says when jobs were submitted.
func namesSubmit(names []string, mapped []Mapped) bool {
	for _, name := range names {
		if i, ok := knownColumns()[plain(name)]; ok && (tableColumns[i].role == roleSubmit || tableColumns[i].role == roleEligible) {
			return true
		}
		for _, m := range mapped {
			if m.role == roleSubmit && plain(m.Column) == plain(name) {
				return true
			}
		}
	}
	return false
}

// looksLikeTable reports whether a line has the names of a table's columns.
func looksLikeTable(line []byte, mapped []Mapped) bool {
	for _, d := range delimiters {
		if names := splitCells(line, d); len(names) > 1 && namesSubmit(names, mapped) {
			return true
		}
	}
	return false
}

// isNumber reports whether a cell is a number, and so no name.
func isNumber(c string) bool {
	_, ok := parseNumber([]byte(strings.TrimSpace(c)))
	return ok
}

// listed lists names, the first maxListed of them.
func listed(names []string) string {
	if more := len(names) - maxListed; more > 0 {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
