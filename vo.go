package bourse

import "strings"

// A site of several VOs knows a broker or a user as VO/NAME, because two VOs may have
// members of one name. A name of a VO has no slash in it. At a site of one VO names
// stand alone, and a broker's stands for its VO.

// InVO is the name by which a site of several VOs knows a member of one.
func InVO(vo, name string) string { return vo + "/" + name }

// CutVO takes such a name apart; false if it names no VO.
func CutVO(name string) (vo, within string, found bool) { return strings.Cut(name, "/") }

// VOOf is the VO of a broker by the name that its site knows it by.
func VOOf(broker string) string {
	vo, _, _ := CutVO(broker)
	return vo
}
