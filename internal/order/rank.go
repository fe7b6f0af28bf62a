package order

// Rank counts the members of the line that would be called before m if time
// stood still at now. It sees the lanes that the line sees and always those of
// m's own class, which compete with m wherever it is called. m itself never
// counts, whether or not it stands in the index. It asks one count a lane.
func Rank(now int64, m Member, line Line) int {
	rank := 0
	for lane := range line.Index.Lanes() {
		if lane.Class == m.Lane.Class || line.Sees(lane) {
			rank += ahead(now, m, lane, line)
		}
	}
	return rank
}

// ahead counts the members of one lane that are called before m. In m's own
// lane these are the ones with a smaller key, in every discipline.
func ahead(now int64, m Member, lane Lane, line Line) int {
	switch line.Rule.Discipline {
	case Aging:
		return agingAhead(now, m, lane, line.Index)
	case Epoch:
		return line.Index.Below(lane, m.Key)
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
