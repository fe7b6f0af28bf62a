package rule

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/builtin"
)

// Every operator of a condition is compiled to a call of one of these
// functions. They are total: each has an answer for any operands. A value that
// is missing, or of a type that the operator does not take, makes arithmetic
// missing and a comparison neither true nor false.

// answer is what a comparison says; unsure is of operands that it cannot
// compare.
type answer int8

const (
	unsure answer = iota
	yes
	no
)

func sure(holds bool) answer {
	if holds {
		return yes
	}
	return no
}

// negated, before the name of a comparison, is its opposite, which does not
// hold of operands that cannot be compared either.
const negated = "@not "

// comparisons are by operator, of two operands.
var comparisons = map[string]func(a, b any) answer{
	"==":         equal,
	"<":          ordered(func(a, b float64) bool { return a < b }, func(a, b string) bool { return a < b }),
	"<=":         ordered(func(a, b float64) bool { return a <= b }, func(a, b string) bool { return a <= b }),
	">":          ordered(func(a, b float64) bool { return a > b }, func(a, b string) bool { return a > b }),
	">=":         ordered(func(a, b float64) bool { return a >= b }, func(a, b string) bool { return a >= b }),
	"contains":   ofTexts(strings.Contains),
	"startsWith": ofTexts(strings.HasPrefix),
	"endsWith":   ofTexts(strings.HasSuffix),
	"in":         isIn,
	"matches":    matches,
}

// arithmetic is by operator, of two operands; nil is missing.
var arithmetic = map[string]func(a, b any) any{
	"+":  add,
	"-":  ofNumbers(func(a, b float64) float64 { return a - b }),
	"*":  ofNumbers(func(a, b float64) float64 { return a * b }),
	"/":  ofNumbers(func(a, b float64) float64 { return a / b }), // by zero: infinite, hence missing
	"%":  ofNumbers(math.Mod),
	"^":  ofNumbers(math.Pow),
	"**": ofNumbers(math.Pow),
}

// The names of the functions that only compiled conditions call.
const (
	callAttr    = "@attr"    // (ext_attrs, name): the attribute
	callTruth   = "@truth"   // (x): x where it is a truth, else false
	callMissing = "@missing" // (x)
	callGiven   = "@given"   // (x): not missing
	callBetween = "@between" // (x, low, high): both ends included
	callMinus   = "@minus"   // (x)
	callPlus    = "@plus"    // (x)
	callWithin  = "@within"  // (how long ago, window)
)

func attr(attrs, name any) any {
	m, _ := attrs.(map[string]any)
	key, _ := name.(string)
	v := m[key]
	switch v.(type) {
	case string, bool:
		return v
	default:
		if n, ok := number(v); ok {
			return n
		}
		return nil
	}
}

func isTrue(x any) bool {
	b, ok := x.(bool)
	return ok && b
}

// number is the value of any kind of number that is finite.
func number(x any) (float64, bool) {
	var f float64
	switch n := x.(type) {
	case float64:
		f = n
	case int:
		f = float64(n)
	case int64:
		f = float64(n)
	case float32:
		f = float64(n)
	case int32:
		f = float64(n)
	default:
		return 0, false
	}
	return f, !math.IsNaN(f) && !math.IsInf(f, 0)
}

func numbers(a, b any) (x, y float64, ok bool) {
	x, okA := number(a)
	y, okB := number(b)
	return x, y, okA && okB
}

func texts(a, b any) (x, y string, ok bool) {
	x, okA := a.(string)
	y, okB := b.(string)
	return x, y, okA && okB
}

func equal(a, b any) answer {
	if x, y, ok := numbers(a, b); ok {
		return sure(x == y)
	}
	if x, y, ok := texts(a, b); ok {
		return sure(x == y)
	}
	x, okA := a.(bool)
	y, okB := b.(bool)
	if okA && okB {
		return sure(x == y)
	}
	return unsure
}

func ordered(byNumber func(a, b float64) bool, byText func(a, b string) bool) func(a, b any) answer {
	return func(a, b any) answer {
		if x, y, ok := numbers(a, b); ok {
			return sure(byNumber(x, y))
		}
		if x, y, ok := texts(a, b); ok {
			return sure(byText(x, y))
		}
		return unsure
	}
}

func ofTexts(holds func(a, b string) bool) func(a, b any) answer {
	return func(a, b any) answer {
		x, y, ok := texts(a, b)
		if !ok {
			return unsure
		}
		return sure(holds(x, y))
	}
}

// list is the literal values on the right of in.
type list struct{ values []any }

// isIn looks in a list, where a value that is of no value's type cannot be
// compared, or among the names of the attributes.
func isIn(x, in any) answer {
	if attrs, ok := in.(map[string]any); ok {
		name, ok := x.(string)
		if !ok {
			return unsure
		}
		return sure(attr(attrs, name) != nil)
	}
	l, ok := in.(*list)
	if !ok {
		return unsure
	}
	found := unsure
	for _, v := range l.values {
		switch equal(x, v) {
		case yes:
			return yes
		case no:
			found = no
		case unsure:
		}
	}
	return found
}

func between(x, low, high any) answer {
	n, lowest, okLow := numbers(x, low)
	_, highest, okHigh := numbers(x, high)
	if !okLow || !okHigh {
		return unsure
	}
	return sure(lowest <= n && n <= highest)
}

func matches(x, pattern any) answer {
	s, ok := x.(string)
	p, okPattern := pattern.(*regexp.Regexp)
	if !ok || !okPattern || len(s) > MaxMatched {
		return unsure
	}
	return sure(p.MatchString(s))
}

func within(ago, window any) bool {
	d, ok := ago.(time.Duration)
	w, okWindow := window.(time.Duration)
	return ok && okWindow && d < w
}

// add adds numbers and joins texts.
func add(a, b any) any {
	if x, y, ok := texts(a, b); ok {
		if len(x)+len(y) > MaxText {
			return nil
		}
		return x + y
	}
	return ofNumbers(func(a, b float64) float64 { return a + b })(a, b)
}

func ofNumbers(f func(a, b float64) float64) func(a, b any) any {
	return func(a, b any) any {
		x, y, ok := numbers(a, b)
		if !ok {
			return nil
		}
		return finite(f(x, y))
	}
}

func ofNumber(f func(float64) float64) func(any) any {
	return func(a any) any {
		x, ok := number(a)
		if !ok {
			return nil
		}
		return finite(f(x))
	}
}

// finite is missing where a result is no number that can be compared.
func finite(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return f
}

// ofText is a function that makes another text, of one that is not too long to
// be made anew for each of a thousand conditions.
func ofText(f func(string) string) func(any) any {
	return func(a any) any {
		s, ok := a.(string)
		if !ok || len(s) > MaxMatched {
			return nil
		}
		return f(s)
	}
}

func length(a any) any {
	s, ok := a.(string)
	if !ok {
		return nil
	}
	return utf8.RuneCountInString(s)
}

// named are the functions that a condition may call by name, and the types that
// they are checked with.
var named = map[string]struct {
	one  func(any) any
	two  func(a, b any) any
	kind any // pointer to a function type
}{
	"lower": {one: ofText(strings.ToLower), kind: new(func(string) string)},
	"upper": {one: ofText(strings.ToUpper), kind: new(func(string) string)},
	"trim":  {one: ofText(strings.TrimSpace), kind: new(func(string) string)},
	"len":   {one: length, kind: new(func(string) int)},
	"abs":   {one: ofNumber(math.Abs), kind: new(func(any) float64)},
	"floor": {one: ofNumber(math.Floor), kind: new(func(any) int)},
	"ceil":  {one: ofNumber(math.Ceil), kind: new(func(any) int)},
	"round": {one: ofNumber(math.Round), kind: new(func(any) int)},
	"min":   {two: ofNumbers(math.Min), kind: new(func(any, any) float64)},
	"max":   {two: ofNumbers(math.Max), kind: new(func(any, any) float64)},
}

// machineFunctions are all functions that a compiled condition calls.
var machineFunctions = func() map[string]*builtin.Function {
	made := make(map[string]*builtin.Function)
	define := func(name string, kind any, call func(args []any) any) {
		made[name] = &builtin.Function{
			Name:  name,
			Func:  func(args ...any) (any, error) { return call(args), nil },
			Types: []reflect.Type{reflect.TypeOf(kind).Elem()},
		}
	}
	truth1, truth2, truth3 := new(func(any) bool), new(func(any, any) bool), new(func(any, any, any) bool)
	value1, value2 := new(func(any) any), new(func(any, any) any)
	for op, compare := range comparisons {
		define("@"+op, truth2, func(args []any) any { return compare(args[0], args[1]) == yes })
		define(negated+op, truth2, func(args []any) any { return compare(args[0], args[1]) == no })
	}
	for op, compute := range arithmetic {
		define("@"+op, value2, func(args []any) any { return compute(args[0], args[1]) })
	}
	for name, f := range named {
		if f.one != nil {
			define(name, value1, func(args []any) any { return f.one(args[0]) })
		} else {
			define(name, value2, func(args []any) any { return f.two(args[0], args[1]) })
		}
	}
	minus, plus := ofNumber(func(x float64) float64 { return -x }), ofNumber(func(x float64) float64 { return x })
	define(callMinus, value1, func(args []any) any { return minus(args[0]) })
	define(callPlus, value1, func(args []any) any { return plus(args[0]) })
	define(callAttr, value2, func(args []any) any { return attr(args[0], args[1]) })
	define(callTruth, truth1, func(args []any) any { return isTrue(args[0]) })
	define(callMissing, truth1, func(args []any) any { return args[0] == nil })
	define(callGiven, truth1, func(args []any) any { return args[0] != nil })
	define(callBetween, truth3, func(args []any) any { return between(args[0], args[1], args[2]) == yes })
	define(negated+callBetween, truth3, func(args []any) any { return between(args[0], args[1], args[2]) == no })
	define(callWithin, truth2, func(args []any) any { return within(args[0], args[1]) })
	return made
}()

// checkedFunctions are the functions as a condition is checked against them.
var checkedFunctions = func() map[string]*builtin.Function {
	made := make(map[string]*builtin.Function)
	for name, f := range named {
		made[name] = &builtin.Function{Name: name, Types: []reflect.Type{reflect.TypeOf(f.kind).Elem()}}
	}
	for name := range histories {
		made[name] = &builtin.Function{Name: name, Types: []reflect.Type{reflect.TypeFor[func(string) bool]()}}
	}
	return made
}()
