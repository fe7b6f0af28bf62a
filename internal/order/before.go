package order

// Before reports whether a is called before b in one line at now. The order is
// total: members whose place lies in the future are behind all others, and no
// two members share a seq.
//
//	aging: (now − place_a)·K_b > (now − place_b)·K_a, or equal and the earlier seq;
//	       among future members (place, seq)
//	epoch: (place, seq)
//
// Products are exact for ages up to 2^54 ms.
func Before(now int64, a, b Member, d Discipline) bool {
	switch d {
	case Aging:
		return agingBefore(now, a.Key, pace(a.Lane, d), b.Key, pace(b.Lane, d))
	case Epoch:
		return a.Key.Less(b.Key)
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

// pace is the K that a lane's members age by. A lane of aging without K is
// ordinary, so that no index can make a division by zero.
func pace(l Lane, d Discipline) int64 {
	if d == Aging && l.K > 0 {
		return int64(l.K)
	}
	return Ordinary
}
