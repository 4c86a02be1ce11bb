package formula

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/policy/names"
)

// The grammar, loosest first; each level is a method of parser:
//
//	disjunction = conjunction { "or" conjunction }
//	conjunction = negation { "and" negation }
//	negation    = [ "not" ] comparison
//	comparison  = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
//	sum         = product { ( "+" | "-" ) product }
//	product     = sign { ( "*" | "/" ) sign }
//	sign        = [ "-" | "+" ] power
//	power       = operand [ "^" whole number ]
//	operand     = number | variable | function "(" ... ")" | "(" disjunction ")"

// mistake is what is wrong with a formula, and where.
type mistake struct {
	column int // from 1, in characters
	what   string
}

func (m *mistake) Error() string { return fmt.Sprintf("column %d: %s", m.column, m.what) }

func wrong(text string, at int, format string, args ...any) *mistake {
	at = min(at, len(text))
	return &mistake{utf8.RuneCountInString(text[:at]) + 1, fmt.Sprintf(format, args...)}
}

// token kinds; an operator is its own text.
const (
	atEnd   = ""
	numeral = "number"
	word    = "word"
)

// parser reads one token ahead. It panics with a *mistake.
type parser struct {
	text     string
	kind     string // of the token
	from, to int    // the token in text
	uses     uint
}

// term is a part that is compiled, and its value if that is known already.
type term struct {
	eval     node
	constant bool
}

func (p *parser) fail(at int, format string, args ...any) {
	panic(wrong(p.text, at, format, args...))
}

// token is the text of the token.
func (p *parser) token() string { return p.text[p.from:p.to] }

// seen describes the token for messages.
func (p *parser) seen() string {
	if p.kind == atEnd {
		return "the end"
	}
	return strconv.Quote(p.token())
}

// next reads the next token.
func (p *parser) next() {
	rest := strings.TrimLeft(p.text[p.to:], " \t")
	p.from = len(p.text) - len(rest)
	p.to = p.from
	if rest == "" {
		p.kind = atEnd
		return
	}
	switch c := rest[0]; {
	case letter(c):
		for p.to < len(p.text) && (letter(p.text[p.to]) || digit(p.text[p.to])) {
			p.to++
		}
		p.kind = word
		if t := p.token(); t == "and" || t == "or" || t == "not" {
			p.kind = t
		}
	case digit(c) || c == '.':
		p.kind, p.to = numeral, p.from+lengthOfNumber(rest)
	default:
		p.to += p.operator(rest)
		p.kind = p.token()
	}
}

// operator is the length of the operator at the beginning of rest.
func (p *parser) operator(rest string) int {
	for _, two := range []string{"<=", ">=", "==", "!="} {
		if strings.HasPrefix(rest, two) {
			return 2
		}
	}
	if strings.ContainsRune("+-*/^<>(),", rune(rest[0])) {
		return 1
	}
	_, n := utf8.DecodeRuneInString(rest)
	switch what := rest[:n]; what {
	case "\n", "\r":
		p.fail(p.from, "a formula is one line")
	case "=":
		p.fail(p.from, `"=" is unknown; to compare, write ==`)
	case "&", "|", "!":
		p.fail(p.from, "%q is unknown; write and, or, not", what)
	default:
		p.fail(p.from, "%q is unknown; operators are + - * / ^ < <= > >= == != and or not", what)
	}
	return n
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// lengthOfNumber is the length of the literal at the beginning of s: digits with at most one
// point, and an exponent.
func lengthOfNumber(s string) int {
	i := 0
	for i < len(s) && (digit(s[i]) || s[i] == '.') {
		i++
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		k := i + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if k < len(s) && digit(s[k]) {
			for i = k; i < len(s) && digit(s[i]); {
				i++
			}
		}
	}
	return i
}

func (p *parser) take(kind string) bool {
	if p.kind != kind {
		return false
	}
	p.next()
	return true
}

func (p *parser) disjunction() term {
	a := p.conjunction()
	for p.take("or") {
		a = binary("or", a, p.conjunction())
	}
	return a
}

func (p *parser) conjunction() term {
	a := p.negation()
	for p.take("and") {
		a = binary("and", a, p.negation())
	}
	return a
}

func (p *parser) negation() term {
	turned, some := false, false
	for p.take("not") {
		turned, some = !turned, true
	}
	a := p.comparison()
	if some {
		a = unary(func(x float64) float64 { return truth((x != 0) != turned) }, a)
	}
	return a
}

func (p *parser) comparison() term {
	a := p.sum()
	switch p.kind {
	case "<", "<=", ">", ">=", "==", "!=":
		op := p.kind
		p.next()
		a = binary(op, a, p.sum())
		switch p.kind {
		case "<", "<=", ">", ">=", "==", "!=":
			p.fail(p.from, "comparisons do not chain; join them by and")
		}
	}
	return a
}

func (p *parser) sum() term {
	a := p.product()
	for p.kind == "+" || p.kind == "-" {
		op := p.kind
		p.next()
		a = binary(op, a, p.product())
	}
	return a
}

func (p *parser) product() term {
	a := p.sign()
	for p.kind == "*" || p.kind == "/" {
		op := p.kind
		p.next()
		a = binary(op, a, p.sign())
	}
	return a
}

func (p *parser) sign() term {
	minus, some := false, false
	for p.kind == "-" || p.kind == "+" {
		minus, some = minus != (p.kind == "-"), true
		p.next()
	}
	a := p.power()
	if some && minus {
		a = unary(func(x float64) float64 { return -x }, a)
	}
	return a
}

// mostExponent bounds an exponent, since a power is a repeated product.
const mostExponent = 16

func (p *parser) power() term {
	a := p.operand()
	if !p.take("^") {
		return a
	}
	at, text := p.from, p.token()
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > mostExponent || p.kind != numeral {
		p.fail(at, "after ^ a whole number from 0 to %d is expected, not %s; other powers are sqrt and cbrt", mostExponent, p.seen())
	}
	if p.next(); p.kind == "^" {
		p.fail(p.from, "a power of a power needs brackets")
	}
	return raised(a, n)
}

func (p *parser) operand() term {
	at, text := p.from, p.token()
	switch p.kind {
	case numeral:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(x, 0) {
			p.fail(at, "%q is not a number that fits", text)
		}
		p.next()
		return known(x)
	case word:
		if p.next(); p.kind == "(" {
			return p.call(at, text)
		}
		v, err := variables.Parse(text)
		if err != nil {
			p.fail(at, "%q is unknown; variables are %s%s", text, strings.Join(variables.Names(), ", "), p.aside(text))
		}
		p.uses |= 1 << v
		return term{eval: variable(v)}
	case "(":
		p.next()
		a := p.disjunction()
		p.close(at)
		return a
	}
	p.fail(at, "a value is expected, not %s", p.seen())
	panic("unreachable")
}

// aside says more about an unknown word.
func (p *parser) aside(word string) string {
	switch _, isOrder := orders.Parse(word); {
	case isOrder == nil:
		return fmt.Sprintf("; the order %s stands alone", word)
	case isFunction(word):
		return fmt.Sprintf("; the function %s takes its values in brackets", word)
	case strings.TrimSpace(p.text) == word:
		return "; orders by name are " + strings.Join(orders.Names(), ", ")
	}
	return ""
}

// close reads the bracket that closes the one at that place.
func (p *parser) close(at int) {
	if !p.take(")") {
		p.fail(p.from, "%q is expected, not %s, to close the bracket of column %d", ")", p.seen(), wrong(p.text, at, "").column)
	}
}

// call compiles a function's call; the token is its bracket.
func (p *parser) call(at int, name string) term {
	if !isFunction(name) {
		list := names.Of(functions.Policies())
		if name == "exp" || name == "pow" {
			p.fail(at, "%q is no function, since its last digit differs between machines; functions are %s", name, strings.Join(list, ", "))
		}
		p.fail(at, "%q is no function; functions are %s", name, strings.Join(list, ", "))
	}
	open := p.from
	p.next()
	var args []term
	if p.kind != ")" {
		for args = append(args, p.disjunction()); p.take(","); {
			args = append(args, p.disjunction())
		}
	}
	p.close(open)
	f := functions.Is(must(functions.Parse(name)))
	if n := len(args); n < f.least || n > f.most {
		p.fail(at, "%s takes %s; it has %d", name, f.takes(), n)
	}
	return f.build(args)
}

func isFunction(name string) bool {
	_, err := functions.Parse(name)
	return err == nil
}

func must[T any](x T, _ error) T { return x }
