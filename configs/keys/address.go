package keys

import (
	"net/netip"
	"strconv"
	"strings"
)

type addressField struct {
	to    *string
	plain bool
}

// Address is HOST:PORT; if plain, of this machine only.
func Address(name string, to *string, plain bool, doc string) Key {
	return Key{Name: name, field: addressField{to, plain}, Doc: doc}
}

func (f addressField) read(t *Table, key string) { *f.to = t.address(key, f.plain) }
func (f addressField) about() About              { return About{Kind: "address", Limits: "HOST:PORT"} }

// address reads HOST:PORT.
func (t *Table) address(key string, plain bool) string {
	s := t.Text(key, "")
	if !t.Has(key) || !t.Clean(key) {
		return s
	}
	if why := WrongAddress(s, plain); why != "" {
		t.Wrong(key, "%q: %s", s, why)
	}
	return s
}

// WrongAddress says why an address cannot be used; "" if it can.
func WrongAddress(s string, plain bool) string {
	host, port, ok := CutPort(s)
	n, err := strconv.Atoi(port)
	switch {
	case !ok || err != nil || strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '/' }) || len(host) > 253:
		return "must be HOST:PORT, such as 10.0.0.5:7400"
	case n < 1 || n > 65535:
		return "the port must be 1 to 65535"
	case plain && !loopback(host):
		return "with plain = true the host must be this machine: 127.0.0.1, [::1] or localhost"
	}
	return ""
}

// CutPort splits HOST:PORT; an IPv6 host is in brackets.
func CutPort(s string) (host, port string, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", "", false
	}
	host, port = s[:i], s[i+1:]
	if inner, bracket := strings.CutPrefix(host, "["); bracket {
		inner, bracket = strings.CutSuffix(inner, "]")
		return inner, port, bracket
	}
	return host, port, !strings.Contains(host, ":")
}

// loopback reports whether a host is only this machine.
func loopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// Everywhere reports whether an address means all interfaces.
func Everywhere(s string) bool {
	host, _, _ := CutPort(s)
	a, err := netip.ParseAddr(host)
	return host == "" || err == nil && a.IsUnspecified()
}
