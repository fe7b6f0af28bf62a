package sim

import (
	"context"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu"
)

// do does a task.
func (r *run) do(ctx context.Context, t task) error {
	switch t.kind {
	case ends:
		return r.call(ctx, int(t.n), "complete")
	case gives:
		return r.call(ctx, int(t.n), "miss")
	case opens:
		r.opens(int(t.n))
		return r.man(ctx, &r.desks[t.n], manned)
	case closes:
		r.closes(int(t.n))
		return r.man(ctx, &r.desks[t.n], unmanned)
	case leaves:
		return r.leave(ctx, t.n)
	case slots:
		return r.slot(ctx, r.slots[t.n])
	case joins:
	}
	panic(fmt.Sprintf("sim: kind %d", t.kind))
}

func (r *run) opens(i int) {
	d := &r.desks[i]
	switch {
	case d.open:
		return // two spans that overlap
	case d.serving == nobody:
		r.idle = append(r.idle, i)
	default: // still at the last one of the span before
		r.m.opened(d.since, r.hall.now)
	}
	d.open, d.since = true, r.hall.now
}

// closes lets a desk call nobody any more.
func (r *run) closes(i int) {
	d := &r.desks[i]
	if !d.open {
		return
	}
	r.m.opened(d.since, r.hall.now)
	d.open, d.since = false, r.hall.now
	r.idle = slices.DeleteFunc(r.idle, func(j int) bool { return i == j })
}

// wanted reports whether somebody waits whom a desk sees.
func (r *run) wanted(d *desk) bool {
	for i, p := range r.parts {
		if p.size > 0 && d.sees[i] {
			return true
		}
	}
	return false
}

// callIdle lets free desks call while somebody waits for them. Where the door of
// a queue lets nobody be called, a desk is asked in vain and goes to the end; what
// opens the door is a timer, and then all are asked again.
func (r *run) callIdle(ctx context.Context) error {
	for tries := len(r.idle); tries > 0 && r.waiting > 0; tries-- {
		at := slices.IndexFunc(r.idle, func(i int) bool { return r.wanted(&r.desks[i]) })
		if at < 0 {
			return nil
		}
		i := r.idle[at]
		r.idle = slices.Delete(r.idle, at, at+1)
		if err := r.call(ctx, i, ""); err != nil {
			return err
		}
	}
	return nil
}

// call does to a desk's current token what is said, and calls the next one.
func (r *run) call(ctx context.Context, i int, current string) error {
	d := &r.desks[i]
	if current != "" {
		r.m.busy(d.from, r.hall.now)
		d.serving = nobody
		if !d.open {
			return r.finish(ctx, d, current)
		}
	}
	r.called = nobody
	_, err := r.hall.CallNext(ctx, staff, d.id, "", dengxu.CallRequest{Current: current})
	if err != nil {
		return fmt.Errorf("call at %s: %w", d.id, err)
	}
	if r.called == nobody {
		r.idle = append(r.idle, i)
		return nil
	}
	return r.begin(ctx, i, r.called)
}

// finish does to the last token of a closed desk what is said.
func (r *run) finish(ctx context.Context, d *desk, current string) error {
	if r.recorded == nil {
		r.m.opened(d.since, r.hall.now)
	}
	verb := dengxu.VerbComplete
	if current == "miss" {
		verb = dengxu.VerbMiss
	}
	_, err := r.hall.Act(ctx, staff, verb, r.stays[d.last].id, dengxu.VerbRequest{CounterID: d.id})
	return err
}

// begin is what follows a call: the person comes and is served, or does not come.
func (r *run) begin(ctx context.Context, i int, who int32) error {
	d, s, p := &r.desks[i], &r.stays[who], &r.people[who]
	st := &r.streams[p.stream]
	s.calls++
	s.desk = int16(i)
	d.serving, d.last, d.from, d.unmet = who, who, r.hall.now, false
	gone := p.patience != forever && r.silent(p) && r.hall.now-(s.joinedAt-r.base) > p.patience
	if gone {
		s.outcome = gaveUp
	} else if s.calls == 1 {
		r.m.waited(p, s.first-s.joinedAt)
	}
	share, after := 0.0, 0.0
	if st.NoShow != nil {
		share, after = st.NoShow.Share, st.NoShow.OperatorAfterSeconds
	}
	r.m.wasCalled(p)
	if gone || !p.comes(int(s.calls), share) {
		r.m.missed(p)
		if after > 0 {
			r.todo.add(task{moment: moment{r.hall.now + int64(after*1000), gives}, n: int32(i)})
			return nil
		}
		d.unmet = true
		return nil
	}
	r.todo.add(task{moment: moment{r.hall.now + p.service, ends}, n: int32(i)})
	if s.due <= r.hall.now+p.service {
		// Whoever is being served is not missed when the call's time is over.
		_, err := r.hall.Act(ctx, staff, dengxu.VerbStart, s.id, dengxu.VerbRequest{CounterID: d.id})
		return err
	}
	return nil
}

// freed is a desk whose token was taken away by the engine: the call's time was
// over.
func (r *run) freed(who int32) {
	i := int(r.stays[who].desk)
	d := &r.desks[i]
	if d.serving != who || !d.unmet {
		return
	}
	r.m.busy(d.from, r.hall.now)
	d.serving, d.unmet = nobody, false
	if d.open {
		r.idle = append(r.idle, i)
	}
}

// leave is somebody who gives up.
func (r *run) leave(ctx context.Context, who int32) error {
	s := &r.stays[who]
	if s.state != dengxu.StateWaiting || s.first != 0 {
		return nil
	}
	return r.abandon(ctx, who)
}

func (r *run) abandon(ctx context.Context, who int32) error {
	r.stays[who].outcome = gaveUp
	_, err := r.hall.Act(ctx, staff, dengxu.VerbAbandon, r.stays[who].id, dengxu.VerbRequest{Reason: "gave up"})
	return err
}

// slot calls the next one to a free desk and lets the service end as recorded.
// Who gave up in the recording and is called before that leaves at once, and the
// slot calls again. A slot that finds nobody calls at the next join.
func (r *run) slot(ctx context.Context, s slot) error {
	i := slices.IndexFunc(r.desks, func(d desk) bool { return d.serving == nobody })
	d := &r.desks[i]
	for {
		r.called = nobody
		if _, err := r.hall.CallNext(ctx, staff, d.id, "", dengxu.CallRequest{}); err != nil {
			return fmt.Errorf("call: %w", err)
		}
		who := r.called
		if who == nobody {
			r.unmet = append(r.unmet, s)
			return nil
		}
		p, st := &r.people[who], &r.stays[who]
		r.m.wasCalled(p)
		if p.patience != forever {
			if err := r.abandon(ctx, who); err != nil {
				return err
			}
			continue
		}
		r.m.waited(p, st.first-st.joinedAt)
		d.serving, d.last, d.from = who, who, r.hall.now
		r.todo.add(task{moment: moment{max(r.hall.now, s.until), ends}, n: int32(i)})
		return nil
	}
}
