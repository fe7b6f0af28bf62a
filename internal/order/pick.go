package order

import "slices"

// maxCompared is how many judged heads a Choice keeps.
const maxCompared = 8

// Pick answers the n members that are called first, as if each left its line
// before the next is chosen; fewer when fewer stand. Each line names its own
// winner, and mode decides between the winners: Oldest by Better, Listed takes
// the first line that has anyone. The member with seq exclude is never taken;
// 0 excludes nobody. A lane that several lines see, as when a counter names a
// queue twice, counts in the first of them.
//
// It asks one Len and two At a lane, and one Below a lane and one At for each choice.
func Pick(now int64, lines []Line, mode Mode, n int, exclude uint64) []Choice {
	var picked []Choice
	if n <= 0 {
		return nil
	}
	r := newRace(lines, exclude)
	for len(picked) < n {
		w := r.winner(now, mode)
		if w == nil {
			break
		}
		picked = append(picked, Choice{
			Line:     w.line,
			Member:   w.head,
			Passed:   r.passed(w.head.Key.Place),
			Compared: r.compared(w, mode),
		})
		r.take(w)
	}
	return picked
}

// race is a pick under way: one runner for each lane that a line sees, those
// of a line side by side, in the order of the lines.
type race struct {
	lines   []Line
	runners [][]runner // by line
	exclude uint64
}

// runner is a lane of which the first members may have been taken.
type runner struct {
	line  int
	index Index
	lane  Lane
	size  int
	next  int    // position of head; size when the lane is used up
	gap   int    // position of the excluded member once it was stepped over, else size
	head  Member // valid while next < size
}

func newRace(lines []Line, exclude uint64) *race {
	r := &race{lines: lines, runners: make([][]runner, len(lines)), exclude: exclude}
	// The first members of lanes. One line alone has each lane once.
	var seen map[Member]bool
	if len(lines) > 1 {
		seen = make(map[Member]bool)
	}
	for i, line := range lines {
		for lane := range line.Index.Lanes() {
			if !line.Sees(lane) {
				continue
			}
			oldest, ok := line.Index.At(lane, 0)
			if !ok || seen[Member{lane, oldest}] {
				continue
			}
			if seen != nil {
				seen[Member{lane, oldest}] = true
			}
			size := line.Index.Len(lane)
			w := runner{line: i, index: line.Index, lane: lane, size: size, gap: size}
			r.load(&w)
			r.runners[i] = append(r.runners[i], w)
		}
		// An index promises no order; sorted, Compared is the same in every store.
		slices.SortFunc(r.runners[i], func(a, b runner) int { return a.lane.Compare(b.lane) })
	}
	return r
}

// load reads the head at w.next, stepping over the excluded member.
func (r *race) load(w *runner) {
	for ; w.next < w.size; w.next++ {
		key, ok := w.index.At(w.lane, w.next)
		if !ok {
			w.next = w.size
			return
		}
		if r.exclude == 0 || key.Seq != r.exclude {
			w.head = Member{Lane: w.lane, Key: key}
			return
		}
		w.gap = w.next
	}
}

func (r *race) take(w *runner) {
	w.next++
	r.load(w)
}

// winner is the runner whose head is called next, or nil.
func (r *race) winner(now int64, mode Mode) *runner {
	var best *runner
	for i, line := range r.lines {
		w := first(now, line, r.runners[i])
		if w == nil {
			continue
		}
		if mode == Listed {
			return w
		}
		if best == nil || Better(now, w.head, line.Rule.Discipline, best.head, r.lines[best.line].Rule.Discipline) {
			best = w
		}
	}
	return best
}

// first is the runner of one line whose head the line's discipline calls
// first, or nil.
func first(now int64, line Line, runners []runner) *runner {
	var best *runner
	for i := range runners {
		w := &runners[i]
		if w.next < w.size && (best == nil || Before(now, w.head, best.head, line.Rule.Discipline)) {
			best = w
		}
	}
	return best
}

// passed counts the members with an earlier place that were not taken. What
// was taken of a lane is its beginning, without the excluded member.
func (r *race) passed(place int64) int {
	n := 0
	for _, runners := range r.runners {
		for i := range runners {
			w := &runners[i]
			earlier := w.index.Below(w.lane, Key{Place: place})
			n += max(0, earlier-w.next)
			if w.gap < earlier {
				n++
			}
		}
	}
	return n
}

// compared lists the heads that were judged against w: of all lines, or of its
// own only when the lines are taken as listed.
func (r *race) compared(w *runner, mode Mode) []Member {
	heads := []Member{w.head}
	for i, runners := range r.runners {
		if mode == Listed && i != w.line {
			continue
		}
		for j := range runners {
			o := &runners[j]
			if len(heads) < maxCompared && o != w && o.next < o.size {
				heads = append(heads, o.head)
			}
		}
	}
	return heads
}
