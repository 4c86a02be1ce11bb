package grid

import "strings"

// A site of several VOs knows a broker or a user as VO/NAME, because two VOs may have members
// with the same name. A VO's name contains no slash. A site of one VO uses plain names, and
// a broker's name stands for its VO.

// InVO is the name by which a site of several VOs knows a member of one.
func InVO(vo, name string) string { return vo + "/" + name }

// CutVO splits such a name. It reports false if the name has no VO.
func CutVO(name string) (vo, within string, found bool) { return strings.Cut(name, "/") }

// VOOf is the VO of a broker, given the name by which its site knows it.
func VOOf(broker string) string {
	vo, _, _ := CutVO(broker)
	return vo
}
