package storetest

import "github.com/dengxu/dengxu/internal/store"

// Tallies are daily counts.
var tallyExamples = []example{
	{"added up and read", tallyCounts},
	{"another day reads as zero", tallyDays},
	{"expected below", tallyBelow},
}

func tally(day int) store.TallyKey { return store.TallyKey{Name: "joins/clinic", Day: day} }

func (k *kit) add(day int, n int64) {
	k.t.Helper()
	k.commit(store.Batch{Tallies: []store.TallyAdd{{Key: tally(day), N: n}}})
}

func (k *kit) wantTallies(today1, today2 int64) {
	k.t.Helper()
	v := k.view(store.Ask{Tallies: []store.TallyKey{tally(today), tally(today + 1), {Name: "none", Day: today}}})
	same(k.t, "tallies today, tomorrow, of another name", []int64{today1, today2, 0}, v.Tallies)
}

func tallyCounts(k *kit) {
	k.wantTallies(0, 0)
	k.commit(store.Batch{Tallies: []store.TallyAdd{{Key: tally(today), N: 2}, {Key: tally(today), N: 3}}})
	k.add(today, -1)
	k.wantTallies(4, 0)
}

func tallyDays(k *kit) {
	k.add(today, 5)
	k.add(today+1, 1)
	k.wantTallies(0, 1)
	k.add(today, 7) // its day is over
	k.wantTallies(0, 1)
}

func tallyBelow(k *kit) {
	k.add(today, 2)
	k.expects(store.TallyBelow{Key: tally(today), Max: 3})
	k.expectsNot(store.TallyBelow{Key: tally(today), Max: 2})
	k.expects(store.TallyBelow{Key: tally(today + 1), Max: 1})
	k.expectsNot(store.TallyBelow{Key: tally(today + 1), Max: 0})
}
