package order

// Rank counts the members of the line that would be called before m if time
// stood still at now. It sees the lanes that the line sees and always those of
// m's own class, which compete with m wherever it is called. m itself never
// counts, whether or not it stands in the index.
//
// It asks one count a lane, in ratio at most three and one At; there the debts
// must be those of now.
func Rank(now int64, m Member, line Line) int {
	if line.Rule.Discipline == Ratio {
		return ratioRank(now, m, line)
	}
	rank := 0
	for lane := range line.Index.Lanes() {
		if competes(m, lane, line) {
			rank += ahead(now, m, lane, line)
		}
	}
	return rank
}

// competes reports whether a lane's members count in m's rank.
func competes(m Member, lane Lane, line Line) bool {
	return lane.Class == m.Lane.Class || line.Sees(lane)
}

// ahead counts the members of one lane that are called before m, in all
// disciplines but ratio. In m's own lane these are the ones with a smaller key.
func ahead(now int64, m Member, lane Lane, line Line) int {
	switch line.Rule.Discipline {
	case Aging:
		return agingAhead(now, m, lane, line.Index)
	case Strict:
		return strictAhead(now, m, lane, line)
	case Epoch:
		return line.Index.Below(lane, m.Key)
	case Ratio:
	}
	panic("order: no such discipline")
}

// agingAhead turns "(now − place)·K_m > age_m·K" into a bound on place. The
// division rounds the bound towards m, and seq decides only when it leaves no
// remainder: only then can a member of the lane be as strong as m.
func agingAhead(now int64, m Member, lane Lane, index Index) int {
	if m.Key.Place > now {
		return index.Below(lane, m.Key)
	}
	x := (now - m.Key.Place) * pace(lane, Aging)
	km := pace(m.Lane, Aging)
	bound := Key{Place: now - x/km}
	if x%km == 0 {
		bound.Seq = m.Key.Seq
	}
	return index.Below(lane, bound)
}

// strictAhead: the future and the overdue go by key alone. Of a better tier all
// that are not in the future are ahead, of a worse one only the overdue.
func strictAhead(now int64, m Member, lane Lane, line Line) int {
	bound := m.Key
	if age := now - m.Key.Place; age >= 0 && age < line.Rule.Escalate {
		mine, theirs := line.Rule.RankOf(m.Lane.Group), line.Rule.RankOf(lane.Group)
		switch {
		case theirs < mine:
			bound = Key{Place: now + 1}
		case theirs > mine:
			bound = Key{Place: now - line.Rule.Escalate + 1}
		}
	}
	return line.Index.Below(lane, bound)
}
