package torture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"

	"github.com/dengxu/dengxu"
)

// The model is a line of first come, first served with counters of one place
// each, as one sequence of attempts sees it: the reference that concurrent
// histories are held against. An attempt that is repeated under its key is
// another operation with the same key, and the model remembers keys as the
// store does; so a repeat needs no special judge.

// input is one attempt.
type input struct {
	Queue    int
	Verb     dengxu.Verb // join, call, a verb on a token, or verbPosition
	Key      int         // of the operation, 0 = none
	Business int         // join: who, 0 = nobody known
	Counter  int         // call
	Current  dengxu.Verb // call: what happens to the counter's token, "" = nothing
	Number   int         // the token: of a verb, of a position, or named as a call's current; 0 = none
	Version  uint64      // verb: as the caller saw it, 0 = do not check
}

// verbPosition reads a position.
const verbPosition dengxu.Verb = "position"

// output is what an attempt was answered.
type output struct {
	Unknown bool // whatever happened, nobody said
	Code    dengxu.Code
	Reason  string
	Number  int // of the token answered, 0 = none
	State   dengxu.State
	Version uint64
	Rank    int // noRank = not told
}

const noRank = -1

// line is a state of the model. It is never changed once it was made, and kept
// small, because the checker makes millions of them.
type line struct {
	tokens []token // by number − 1
	keys   []int16 // by key: the number that the operation led to, 0 = not done
	sum    uint64  // of all of it, kept up with every change
}

type token struct {
	state    state
	version  uint16
	counter  int8
	business int8
}

// state is a token's state in one byte: its place in dengxu.States.
type state uint8

const waiting, calling state = 1, 2

var stateNames = dengxu.States()

func stateOf(s dengxu.State) state { return state(slices.Index(stateNames, s)) }

func (s state) name() dengxu.State { return stateNames[s] }
func (s state) atCounter() bool    { return s.name().AtCounter() }

func (l *line) clone() *line {
	return &line{tokens: slices.Clone(l.tokens), keys: slices.Clone(l.keys), sum: l.sum}
}

func (l *line) equal(o *line) bool {
	return l.sum == o.sum && slices.Equal(l.tokens, o.tokens) && slices.Equal(l.keys, o.keys)
}

// put writes a token, the next or one that exists.
func (l *line) put(n int, t token) {
	if n > len(l.tokens) {
		l.tokens = append(l.tokens, t)
	} else {
		l.sum -= l.tokens[n-1].sum(n)
		l.tokens[n-1] = t
	}
	l.sum += t.sum(n)
}

// sum mixes a token and its number into all bits.
func (t token) sum(n int) uint64 {
	return mix(uint64(n)<<48 | uint64(t.state)<<40 | uint64(t.version)<<16 | uint64(uint8(t.counter))<<8 | uint64(uint8(t.business)))
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// remember notes which token an operation led to.
func (l *line) remember(key, number int) {
	if key == 0 {
		return
	}
	for len(l.keys) <= key {
		l.keys = append(l.keys, 0)
	}
	l.keys[key] = int16(number)
	l.sum += mix(1<<63 | uint64(key)<<16 | uint64(number))
}

func (l *line) done(key int) int {
	if key == 0 || key >= len(l.keys) {
		return 0
	}
	return int(l.keys[key])
}

// at is the token that a counter has, 0 = none.
func (l *line) at(counter int) int {
	for i, t := range l.tokens {
		if t.state.atCounter() && int(t.counter) == counter {
			return i + 1
		}
	}
	return 0
}

// ahead counts the waiting tokens with a number below n.
func (l *line) ahead(n int) int {
	ahead := 0
	for _, t := range l.tokens[:n-1] {
		if t.state == waiting {
			ahead++
		}
	}
	return ahead
}

// active finds the token of a business id that is still in line, 0 = none.
func (l *line) active(business int) int {
	for i, t := range l.tokens {
		if int(t.business) == business && !t.state.name().Ended() {
			return i + 1
		}
	}
	return 0
}

// answer is the token n as it is, to somebody who is not told a rank.
func (l *line) answer(n int) output {
	t := l.tokens[n-1]
	return output{Number: n, State: t.state.name(), Version: uint64(t.version), Rank: noRank}
}

// set changes the token n.
func (l *line) set(n int, to state, counter int) {
	t := l.tokens[n-1]
	t.state, t.version, t.counter = to, t.version+1, int8(counter)
	l.put(n, t)
}

func conflict(reason string) output {
	return output{Code: dengxu.Conflict, Reason: reason, Rank: noRank}
}

// apply makes one attempt and returns the state after it and the answer.
func (l *line) apply(in input) (*line, output) {
	if n := l.done(in.Key); n != 0 {
		return l, l.answer(n)
	}
	switch in.Verb { //nolint:exhaustive // the others are verbs on a token
	case dengxu.VerbJoin:
		return l.join(in)
	case dengxu.VerbCall:
		return l.call(in)
	case verbPosition:
		out := l.answer(in.Number)
		if out.State == dengxu.StateWaiting {
			out.Rank = l.ahead(in.Number)
		}
		return l, out
	default:
		return l.act(in)
	}
}

func (l *line) join(in input) (*line, output) {
	if in.Business != 0 {
		if n := l.active(in.Business); n != 0 {
			return l, output{Code: dengxu.Exists, Reason: "already_in_line", Number: n, Rank: noRank}
		}
	}
	next := l.clone()
	n := len(next.tokens) + 1
	next.put(n, token{state: waiting, version: 1, business: int8(in.Business)})
	next.remember(in.Key, n)
	out := next.answer(n)
	out.Rank = next.ahead(n)
	return next, out
}

func (l *line) call(in input) (*line, output) {
	held := l.at(in.Counter)
	switch {
	case held != 0 && in.Current == "":
		return l, conflict("counter_busy")
	case in.Current != "" && in.Number != 0 && held != in.Number:
		return l, conflict("state")
	}
	next := l.clone()
	if held != 0 {
		after, ok := afterVerb(next.tokens[held-1].state.name(), in.Current)
		if !ok {
			return l, conflict("state")
		}
		next.set(held, stateOf(after), in.Counter)
	}
	for i, t := range l.tokens { // judged as it was before the current one moved
		if t.state == waiting {
			next.set(i+1, calling, in.Counter)
			next.remember(in.Key, i+1)
			return next, next.answer(i + 1)
		}
	}
	return next, output{Rank: noRank} // nobody waits, and the key is not used up
}

func (l *line) act(in input) (*line, output) {
	t := l.tokens[in.Number-1]
	if in.Version != 0 && in.Version != uint64(t.version) {
		return l, conflict("stale_version")
	}
	after, ok := afterVerb(t.state.name(), in.Verb)
	switch {
	case !ok:
		return l, conflict("state")
	case in.Verb == dengxu.VerbResume && l.at(int(t.counter)) != 0:
		return l, conflict("no_room")
	}
	next := l.clone()
	next.set(in.Number, stateOf(after), int(t.counter))
	next.remember(in.Key, in.Number)
	return next, next.answer(in.Number)
}

// afterVerb is the part of the table that the histories use, with missed
// tokens kept.
func afterVerb(from dengxu.State, verb dengxu.Verb) (dengxu.State, bool) {
	called, served := from == dengxu.StateCalling, from.AtCounter()
	switch verb { //nolint:exhaustive // what the histories do
	case dengxu.VerbStart:
		return dengxu.StateServing, called
	case dengxu.VerbComplete:
		return dengxu.StateCompleted, served
	case dengxu.VerbMiss:
		return dengxu.StateMissed, called
	case dengxu.VerbReinstate:
		return dengxu.StateWaiting, from == dengxu.StateMissed
	case dengxu.VerbRequeue:
		return dengxu.StateWaiting, served
	case dengxu.VerbHold:
		return dengxu.StateHeld, served
	case dengxu.VerbResume:
		return dengxu.StateServing, from == dengxu.StateHeld
	case dengxu.VerbCancel:
		return dengxu.StateCancelled, !from.Ended()
	}
	return "", false
}

// accepts reports whether an attempt may have been answered so.
func accepts(want, got output) bool {
	if got.Rank == noRank {
		want.Rank = noRank // a repeat is not told the rank of the join's moment
	}
	if got.Code == dengxu.Exists && got.Number == 0 {
		want.Number = 0 // the one in line could not be read
	}
	return want == got
}

// queueModel is the model of several queues, each a partition. An attempt of
// unknown outcome has two: it was done, or it never was.
func queueModel() porcupine.Model {
	m := porcupine.NondeterministicModel{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			var parts [][]porcupine.Operation
			for _, op := range history {
				q := op.Input.(input).Queue
				for len(parts) <= q {
					parts = append(parts, nil)
				}
				parts[q] = append(parts[q], op)
			}
			return parts
		},
		Init: func() []any { return []any{&line{}} },
		Step: func(state, in, out any) []any {
			before, got := state.(*line), out.(output)
			next, want := before.apply(in.(input))
			switch {
			case got.Unknown && next != before:
				return []any{before, next}
			case got.Unknown || accepts(want, got):
				return []any{next}
			}
			return nil
		},
		Equal:             func(a, b any) bool { return a.(*line).equal(b.(*line)) },
		Hash:              func(state any) uint64 { return state.(*line).sum },
		DescribeOperation: func(in, out any) string { return describe(in.(input), out.(output)) },
	}
	return m.ToModel()
}

// describe is one attempt and its answer in a line.
func describe(in input, out output) string {
	var b strings.Builder
	fmt.Fprintf(&b, "q%d %s", in.Queue, in.Verb)
	for _, part := range []struct {
		name  string
		value int
	}{{"counter", in.Counter}, {"token", in.Number}, {"business", in.Business}, {"version", int(in.Version)}, {"key", in.Key}} {
		if part.value != 0 {
			fmt.Fprintf(&b, " %s %d", part.name, part.value)
		}
	}
	if in.Current != "" {
		fmt.Fprintf(&b, " current %s", in.Current)
	}
	b.WriteString(" → ")
	switch {
	case out.Unknown:
		b.WriteString("unknown")
	case out.Code != "":
		fmt.Fprintf(&b, "%s %s %d", out.Code, out.Reason, out.Number)
	case out.Number == 0:
		b.WriteString("nobody")
	default:
		fmt.Fprintf(&b, "%d %s v%d rank %d", out.Number, out.State, out.Version, out.Rank)
	}
	return b.String()
}
