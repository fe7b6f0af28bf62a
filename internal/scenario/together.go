package scenario

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dengxu/dengxu"
)

// atOnce bounds how many steps of a together run at the same time.
const atOnce = 64

// together runs its steps at the same time.
type together struct{ steps []Step }

// outcomes is one way in which a together may end: each term is the outcome of
// one step, in any order.
type outcomes struct {
	text  string
	terms []want
}

// parseTogether reads the steps of a block.
func parseTogether(p *parser, l line, w words) (doing, error) {
	if len(w.bare) > 1 || len(w.fields) > 0 || w.want != nil || p.together {
		return nil, fmt.Errorf("together stands alone, its steps indented below")
	}
	if len(l.block) == 0 {
		return nil, fmt.Errorf("nothing is indented below together")
	}
	p.together = true
	defer func() { p.together = false }()
	var t together
	all := 0
	for _, b := range l.block {
		step, err := p.line(line{n: b.n, text: strings.TrimSpace(b.text)})
		if err != nil {
			return nil, p.story.at(b.n, err)
		}
		if all += step.times; all > maxTimes {
			return nil, p.story.at(b.n, fmt.Errorf("a together has at most %d steps", maxTimes))
		}
		t.steps = append(t.steps, *step)
	}
	return t, nil
}

// oneOf reads the ways in which a together may end, one a line.
func (p *parser) oneOf(l line) ([]outcomes, error) {
	if len(l.block) == 0 {
		return nil, &Error{p.story.Name, l.n, fmt.Errorf("nothing is indented below one of")}
	}
	var all []outcomes
	for _, b := range l.block {
		out := outcomes{text: strings.TrimSpace(b.text)}
		for part := range strings.SplitSeq(out.text, ",") {
			terms, err := p.terms(part)
			if err == nil && len(out.terms)+len(terms) > maxTimes {
				err = fmt.Errorf("more than %d outcomes", maxTimes)
			}
			if err != nil {
				return nil, &Error{p.story.Name, b.n, err}
			}
			out.terms = append(out.terms, terms...)
		}
		all = append(all, out)
	}
	return all, nil
}

var rangePattern = regexp.MustCompile(`^([^0-9]*)([0-9]{1,9})\.\.([^0-9]*)([0-9]{1,9})$`)

// terms reads one term: an answer as after an arrow, 7 times such an answer,
// or the numbers A001..A200.
func (p *parser) terms(part string) ([]want, error) {
	w, err := scan(part)
	if err != nil {
		return nil, err
	}
	n := 1
	if len(w.bare) > 2 && w.bare[1] == "times" {
		if n, err = strconv.Atoi(w.bare[0]); err != nil || n < 1 || n > maxTimes {
			return nil, fmt.Errorf("from 1 to %d times", maxTimes)
		}
		w.bare = w.bare[2:]
	}
	if len(w.bare) == 1 {
		if m := rangePattern.FindStringSubmatch(w.bare[0]); m != nil && m[1] == m[3] {
			return p.numbers(m)
		}
	}
	one, err := p.want(w)
	if err != nil {
		return nil, err
	}
	return slices.Repeat([]want{*one}, n), nil
}

// numbers are the labels from one to another.
func (p *parser) numbers(m []string) ([]want, error) {
	from, _ := strconv.Atoi(m[2]) // the pattern lets only digits through
	to, _ := strconv.Atoi(m[4])
	if to < from || to-from >= maxTimes {
		return nil, fmt.Errorf("%s has no numbers, or more than %d", m[0], maxTimes)
	}
	var all []want
	for n := from; n <= to; n++ {
		all = append(all, want{words: []string{fmt.Sprintf("%s%0*d", m[1], len(m[2]), n)}})
	}
	return all, nil
}

// result is how one step of a together ended.
type result struct {
	step   *Step
	answer any
	err    error
}

func (t together) play(p *player) (any, error) {
	var all []*result
	for i := range t.steps {
		for range t.steps[i].times {
			all = append(all, &result{step: &t.steps[i]})
		}
	}
	room := make(chan struct{}, atOnce) // bounds those that run
	gate := make(chan struct{})         // closed when all may begin
	var done sync.WaitGroup
	for _, r := range all {
		done.Go(func() {
			<-gate
			room <- struct{}{}
			defer func() { <-room }()
			r.answer, r.err = r.step.do.play(p)
		})
	}
	close(gate)
	done.Wait()
	return all, nil
}

// judge holds what came out of a together against what its steps and its
// ending want.
func (p *player) judge(all []*result, endings []outcomes) error {
	for _, r := range all {
		var err error
		switch {
		case r.step.want != nil:
			err = r.step.want.check(p, r.answer, r.err)
		case len(endings) == 0:
			err = r.err
		}
		if err != nil {
			return p.story.at(r.step.Line, err)
		}
	}
	if len(endings) == 0 {
		return nil
	}
	var why []string
	for _, e := range endings {
		err := p.ended(all, e)
		if err == nil {
			return nil
		}
		why = append(why, e.text+": "+err.Error())
	}
	return fmt.Errorf("together it ended in no such way:\n  %s", strings.Join(why, "\n  "))
}

// ended finds a result for each term, in their order, and last for those that
// are a number and nothing else. A term that fits two results takes the first:
// write the narrower one first.
func (p *player) ended(all []*result, e outcomes) error {
	if len(all) != len(e.terms) {
		return fmt.Errorf("%d outcomes are named, there were %d", len(e.terms), len(all))
	}
	left := slices.Clone(all)
	var numbers []string
	for i := range e.terms {
		if number, ok := p.number(&e.terms[i]); ok {
			numbers = append(numbers, number)
			continue
		}
		var last error
		found := slices.IndexFunc(left, func(r *result) bool {
			last = e.terms[i].check(p, r.answer, r.err)
			return last == nil
		})
		if found < 0 {
			return fmt.Errorf("outcome %d did not come; the last that was left: %w", i+1, last)
		}
		left = slices.Delete(left, found, found+1)
	}
	var got []string
	for _, r := range left {
		number, err := r.number()
		if err != nil {
			return err
		}
		got = append(got, number)
	}
	slices.Sort(got)
	slices.Sort(numbers)
	for i, number := range numbers {
		if got[i] != number {
			return fmt.Errorf("%s came where %s was to come", got[i], number)
		}
	}
	return nil
}

// number is the number that a term consists of.
func (p *player) number(w *want) (string, bool) {
	if w.code != "" || w.nobody || len(w.words) != 1 || len(w.fields) > 0 || dengxu.State(w.words[0]).Valid() {
		return "", false
	}
	_, named := p.lookup(w.words[0])
	return w.words[0], !named
}

// number is the number that a step of a together gave or called.
func (r *result) number() (string, error) {
	if r.err != nil {
		return "", r.err
	}
	answer := r.answer
	if outcome, ok := answer.(dengxu.CallOutcome); ok {
		if outcome.Token == nil {
			return "", fmt.Errorf("called nobody: %s", outcome.Reason)
		}
		answer = outcome.Token
	}
	all, err := object(answer)
	return text(all["number"]), err
}
