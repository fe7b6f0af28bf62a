package order

import "slices"

// maxCompared is how many judged heads a Choice keeps.
const maxCompared = 8

// Pick answers the n members that are called first, as if each left its line
// before the next is chosen; fewer when fewer stand. Each line names its own
// winner, and mode decides between the winners: Oldest by Better, Listed takes
// the first line that has anyone. In a ratio line each class names a winner of
// its own, Better decides between these, and a call charges the class; the
// line's debts must be those of now. The member with seq exclude is never taken;
// 0 excludes nobody. A lane that several lines see, as when a counter names a
// queue twice, counts in the first of them.
//
// It asks one Len and at most two At a lane, and one Below a lane and one At for each choice.
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
			Debts:    w.charge(now),
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
	// The first members of lanes, where several lines may see one. One line
	// alone has each lane once.
	seen map[Member]bool

	one [1][]runner // room for runners: mostly there is one line
}

// runner is a lane of which the first members may have been taken.
type runner struct {
	line  int
	index Index
	size  int
	next  int    // position of head; size when the lane is used up
	gap   int    // position of the excluded member once it was stepped over, else size
	head  Member // its lane always, its key while next < size
	rank  int    // strict: of the lane's group
	tab   *tab   // ratio: of the lane's class
	group int    // ratio: the place of the lane's group in tab
}

func newRace(lines []Line, exclude uint64) *race {
	r := &race{lines: lines, exclude: exclude}
	if len(lines) == 1 {
		r.runners = r.one[:]
	} else {
		r.runners, r.seen = make([][]runner, len(lines)), make(map[Member]bool)
	}
	for i := range lines {
		for lane := range lines[i].Index.Lanes() {
			r.enter(i, lane)
		}
		// An index promises no order; sorted, Compared is the same in every store.
		if len(r.runners[i]) > 1 {
			slices.SortFunc(r.runners[i], func(a, b runner) int { return a.head.Lane.Compare(b.head.Lane) })
		}
		brief(&lines[i], r.runners[i])
	}
	return r
}

// enter enters a lane of a line, if the line sees it and none before does.
func (r *race) enter(i int, lane Lane) {
	line := &r.lines[i]
	if !line.Sees(lane) {
		return
	}
	if r.seen != nil {
		oldest, ok := line.Index.At(lane, 0)
		if !ok || r.seen[Member{lane, oldest}] {
			return
		}
		r.seen[Member{lane, oldest}] = true
	}
	size := line.Index.Len(lane)
	if size == 0 {
		return
	}
	r.runners[i] = append(r.runners[i], runner{line: i, index: line.Index, head: Member{Lane: lane}, size: size, gap: size})
	r.load(&r.runners[i][len(r.runners[i])-1])
}

// brief tells the sorted runners of a line what its rule says of their groups.
func brief(line *Line, runners []runner) {
	switch line.Rule.Discipline {
	case Strict:
		for i := range runners {
			runners[i].rank = line.Rule.RankOf(runners[i].head.Lane.Group)
		}
	case Ratio:
		b := newBooks(*line)
		for len(runners) > 0 {
			class := runners[:sameClass(runners)]
			t := b.newTab(class[0].head.Lane.Class, class)
			for i := range class {
				class[i].tab, class[i].group = t, slices.Index(t.groups, class[i].head.Lane.Group)
			}
			runners = runners[len(class):]
		}
	case Aging, Epoch:
	}
}

// sameClass is how many of the sorted runners are of the first one's class.
func sameClass(runners []runner) int {
	for i := range runners {
		if runners[i].head.Lane.Class != runners[0].head.Lane.Class {
			return i
		}
	}
	return len(runners)
}

// load reads the head at w.next, stepping over the excluded member.
func (r *race) load(w *runner) {
	for ; w.next < w.size; w.next++ {
		key, ok := w.index.At(w.head.Lane, w.next)
		if !ok {
			w.next = w.size
			return
		}
		if r.exclude == 0 || key.Seq != r.exclude {
			w.head.Key = key
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
	for i := range r.lines {
		d := r.lines[i].Rule.Discipline
		w := first(now, &r.lines[i].Rule, r.runners[i])
		if w == nil {
			continue
		}
		if mode == Listed {
			return w
		}
		if best == nil || Better(now, w.head, d, best.head, r.lines[best.line].Rule.Discipline) {
			best = w
		}
	}
	return best
}

// first is the runner of one line whose head the line's rule calls first, or
// nil.
func first(now int64, rule *Rule, runners []runner) *runner {
	if rule.Discipline != Ratio {
		return leader(now, rule, runners)
	}
	var best *runner
	for len(runners) > 0 {
		n := sameClass(runners)
		w := leader(now, rule, runners[:n])
		if w != nil && (best == nil || Better(now, w.head, Ratio, best.head, Ratio)) {
			best = w
		}
		runners = runners[n:]
	}
	return best
}

// leader is the first of the runners that still have a head, or nil. In ratio
// they are those of one class.
func leader(now int64, rule *Rule, runners []runner) *runner {
	var best *runner
	for i := range runners {
		w := &runners[i]
		if w.next < w.size && (best == nil || w.before(now, best, rule)) {
			best = w
		}
	}
	return best
}

// before compares the heads of two runners of one line.
func (w *runner) before(now int64, o *runner, rule *Rule) bool {
	switch rule.Discipline {
	case Aging, Epoch:
		return Before(now, w.head, o.head, *rule)
	case Strict:
		return strictBefore(now, rule.Escalate, w.head.Key, w.rank, o.head.Key, o.rank)
	case Ratio:
		return ratioBefore(now, w.head.Key, w.tab.debt[w.group], o.head.Key, o.tab.debt[o.group])
	}
	panic("order: no such discipline")
}

// charge charges the class for a call of the head, if its rule does.
func (w *runner) charge(now int64) map[string]int64 {
	if w.tab == nil || w.head.Key.Place > now {
		return nil
	}
	return w.tab.charge(w.group)
}

// passed counts the members with an earlier place that were not taken. What
// was taken of a lane is its beginning, without the excluded member.
func (r *race) passed(place int64) int {
	n := 0
	for _, runners := range r.runners {
		for i := range runners {
			w := &runners[i]
			earlier := w.index.Below(w.head.Lane, Key{Place: place})
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
