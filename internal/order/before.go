package order

// Before reports whether a is called before b in one line at now. The order is
// total: members whose place lies in the future are behind all others, among
// themselves by (place, seq), and no two members share a seq.
//
//	aging:  (now − place_a)·K_b > (now − place_b)·K_a, or equal and the earlier seq
//	strict: overdue ones first, by (place, seq); then the lesser rank, then (place, seq)
//	epoch:  (place, seq)
//
// Products are exact for ages up to 2^54 ms. Ratio has no such order: who is
// before whom changes with each call and depends on all that stand there. It is
// a programmer's error to ask, and panics.
func Before(now int64, a, b Member, rule Rule) bool {
	switch rule.Discipline {
	case Aging:
		return agingBefore(now, a.Key, pace(a.Lane, Aging), b.Key, pace(b.Lane, Aging))
	case Strict:
		return strictBefore(now, rule.Escalate, a.Key, rule.RankOf(a.Lane.Group), b.Key, rule.RankOf(b.Lane.Group))
	case Epoch:
		return a.Key.Less(b.Key)
	case Ratio:
		panic("order: ratio orders groups, not members")
	}
	panic("order: no such discipline")
}

// Better reports whether a, the winner of a line ordered by da, is taken before
// b, the winner of a line ordered by db: future places last, then the larger
// (now − place)/factor, then the earlier seq. A discipline that does not age by
// factor counts with the ordinary factor. The fairness bound holds across
// queues because the comparison is that of aging.
func Better(now int64, a Member, da Discipline, b Member, db Discipline) bool {
	return agingBefore(now, a.Key, pace(a.Lane, da), b.Key, pace(b.Lane, db))
}

func agingBefore(now int64, a Key, ka int64, b Key, kb int64) bool {
	if a.Place > now || b.Place > now {
		// A place that is not in the future is less than one that is, so the
		// keys also keep the future behind.
		return a.Less(b)
	}
	pa, pb := (now-a.Place)*kb, (now-b.Place)*ka
	return pa > pb || pa == pb && a.Seq < b.Seq
}

func strictBefore(now, escalate int64, a Key, ra int, b Key, rb int) bool {
	if a.Place > now || b.Place > now || ra == rb {
		// Of one tier, the overdue are those with the least places.
		return a.Less(b)
	}
	if oa, ob := now-a.Place >= escalate, now-b.Place >= escalate; oa || ob {
		return oa && (!ob || a.Less(b))
	}
	return ra < rb
}

// ratioBefore is the order of ratio inside one class while time stands still:
// each member is due at the debt that its group will have when it is called.
func ratioBefore(now int64, a Key, dueA int64, b Key, dueB int64) bool {
	if a.Place > now || b.Place > now {
		return a.Less(b)
	}
	return dueA < dueB || dueA == dueB && a.Less(b)
}

// pace is the K that a lane's members age by. A lane of aging without K is
// ordinary, so that no index can make a division by zero.
func pace(l Lane, d Discipline) int64 {
	if d == Aging && l.K > 0 {
		return int64(l.K)
	}
	return Ordinary
}
