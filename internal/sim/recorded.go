package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/recording"
)

// record reads the recording: its dates are the runs, its priorities the
// streams.
func (p *plan) record() error {
	rec := p.Recording
	days, err := rec.read(p.folder)
	if err != nil {
		return err
	}
	queue := slices.Sorted(maps.Keys(p.Queues))[0]
	for priority := range 3 {
		group := cmp.Or(rec.Groups[fmt.Sprint(priority)], dengxu.GroupOrdinary)
		p.streams = append(p.streams, Stream{Queue: queue, Group: group})
		p.lineOf = append(p.lineOf, p.line(lineName{Queue: queue, Group: group}))
	}
	for _, day := range days {
		p.runs = append(p.runs, runName{Date: day.Date})
		p.recorded = append(p.recorded, day)
	}
	return nil
}

func (rec *Recording) read(folder string) (days []recording.Day, err error) {
	path := inFolder(folder, rec.CSV)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if days, err = recording.ReadAll(file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rec.Dates) == 0 {
		return days, nil
	}
	var some []recording.Day
	for _, date := range rec.Dates {
		i := slices.IndexFunc(days, func(d recording.Day) bool { return d.Date == date })
		if i < 0 {
			return nil, fmt.Errorf("%s: there are no rows of %s", path, date)
		}
		some = append(some, days[i])
	}
	return some, nil
}

// slot is a moment at which somebody is called in a recording, and when that
// service ended.
type slot struct{ at, until int64 }

// slots are the call slots of a run, in order.
func (p *plan) slots(run int) []slot {
	if p.recorded == nil {
		return nil
	}
	var all []slot
	for _, r := range p.recorded[run].Rows {
		if r.Served {
			all = append(all, slot{int64(r.Start) * 1000, int64(r.End) * 1000})
		}
	}
	slices.SortStableFunc(all, func(a, b slot) int { return cmp.Compare(a.at, b.at) })
	return all
}

// policyRecorded is what the file itself says, beside the policies.
const policyRecorded = "as recorded"

// asRecorded measures a day as it was.
func (p *plan) asRecorded(run int) *measures {
	people, rows := p.people(run), slices.Clone(p.recorded[run].Rows)
	slices.SortStableFunc(rows, func(a, b recording.Row) int { return cmp.Compare(a.Join, b.Join) })
	m := newMeasures(p, people)
	var todo agenda
	for i, r := range rows {
		todo.add(task{moment: moment{int64(r.Join), joins}, n: int32(i)})
		if r.Served {
			todo.add(task{moment: moment{int64(r.Start), slots}, n: int32(i)})
		} else {
			todo.add(task{moment: moment{int64(r.Leave), leaves}, n: int32(i)})
		}
	}
	var line passes
	for t := todo.first(); t.at != forever; t = todo.first() {
		todo.pop()
		who := &people[t.n]
		// Rows are in the order of their joins, so a row's number is its place in line.
		switch t.kind { //nolint:exhaustive // there are no desks
		case joins:
			line.add(t.n, uint64(t.n), len(rows))
			m.came(who)
			continue
		case slots:
			m.wasCalled(who)
			m.waited(who, t.at*1000-who.at)
			m.became(who, served)
			if oldest, seq, ok := line.oldest(); ok && seq < uint64(t.n) {
				line.passedBy(uint64(t.n))
				m.overtook(&people[oldest], who.at-people[oldest].at)
			}
		case leaves:
			m.became(who, gaveUp)
		}
		m.passed(who, line.leave(t.n))
	}
	return m
}
