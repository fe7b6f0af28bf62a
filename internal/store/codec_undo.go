package store

import "github.com/dengxu/dengxu"

func appendUndo(e *Encoder, u *Undo, base int64) {
	e.Word(1, string(u.Verb))
	e.Word(2, u.Actor)
	e.Near(3, u.Until, base)
	b := &u.Before
	e.Word(4, string(b.State))
	e.Text(5, string(b.Queue))
	e.Int(6, int64(b.Gen))
	e.Text(7, b.Class)
	e.Word(8, b.Group)
	appendLane(e, 9, b.Lane, b.Class)
	e.Near(12, b.Place, base)
	e.Uint(13, b.Seq)
	e.Near(14, b.Origin, base)
	e.Int(15, int64(b.Factor))
	e.Near(16, b.Due, base)
	e.Word(17, b.Why)
	e.Near(18, b.Deadline, base)
	e.Int(19, int64(b.CallCount))
	e.Bool(20, b.Confirmed)
	e.Near(21, b.StartedAt, base)
	e.Text(22, string(b.Counter))
	e.Int(23, int64(b.Misses))
	for _, name := range b.Rules {
		e.Entry(24, name)
	}
}

// decodeUndo is a table like decodeLine.
func decodeUndo(d *Decoder, u *Undo, base int64) {
	b := &u.Before
	switch d.Tag() {
	case 1:
		u.Verb = dengxu.Verb(d.Word())
	case 2:
		u.Actor = d.Word()
	case 3:
		u.Until = d.Near(base)
	case 4:
		b.State = dengxu.State(d.Word())
	case 5:
		b.Queue = dengxu.QueueID(d.Text())
	case 6:
		b.Gen = int(d.Int())
	case 7:
		b.Class = d.Text()
	case 8:
		b.Group = d.Word()
	case 9, 10, 11:
		decodeLane(d, 9, &b.Lane, b.Class)
	case 12:
		b.Place = d.Near(base)
	case 13:
		b.Seq = d.Uint()
	case 14:
		b.Origin = d.Near(base)
	case 15:
		b.Factor = int32(d.Int())
	case 16:
		b.Due = d.Near(base)
	case 17:
		b.Why = d.Word()
	case 18:
		b.Deadline = d.Near(base)
	case 19:
		b.CallCount = int(d.Int())
	case 20:
		b.Confirmed = d.Bool()
	case 21:
		b.StartedAt = d.Near(base)
	case 22:
		b.Counter = dengxu.CounterID(d.Text())
	case 23:
		b.Misses = int(d.Int())
	case 24:
		b.Rules = append(b.Rules, d.Text())
	default:
		d.Unknown()
	}
}
