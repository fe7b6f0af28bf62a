package ledger

import "github.com/dengxu/dengxu/internal/store"

// number gives the next number of a series. The numbers of one batch follow
// each other.
func (w *work) number(s *store.Series) (int64, error) {
	key := SeriesKey{Site: w.b.Site, Name: s.Name}
	have, mine := w.e.Series.get(key)
	if !mine {
		have = w.t.Series(key.Site, key.Name)
	}
	// A batch that was made just before the day's change counts on in the new
	// day, for numbers are unique in it.
	day := max(s.Day, have.Day)
	next := s.First
	if have.Day == day {
		next = max(have.N+1, s.First)
	}
	if s.Last != 0 && next > s.Last {
		switch s.At {
		case "refuse":
			return 0, w.refuse(store.SeriesBelow{Name: s.Name})
		case "wrap":
			next = s.First
		}
	}
	w.e.Series.set(key, Daily{Day: day, N: next})
	return next, nil
}

// counts works out tallies and marks.
func (w *work) counts() error {
	for _, add := range w.b.Tallies {
		have, mine := w.e.Tallies.get(add.Key.Name)
		if !mine {
			have = w.t.Tally(add.Key.Name)
		}
		w.e.Tallies.set(add.Key.Name, have.Add(add.Key.Day, add.N))
	}
	for _, m := range w.b.Marks {
		m.At = store.Resolve(m.At, w.now)
		w.e.Marks = append(w.e.Marks, m)
	}
	return nil
}
