package store

import (
	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
)

// AppendToken appends the encoding of t, all of it but its ID, to dst. It is
// long because it is a table: one line a tag.
func AppendToken(dst []byte, t *Token) []byte {
	e := Encoder{append(dst, codecVersion)}
	base := t.JoinedAt
	e.Int(1, base)
	e.Text(2, string(t.Site))
	e.Uint(3, t.Arrival)
	e.Text(4, string(t.Queue))
	e.Int(5, int64(t.Gen))
	e.Text(6, t.Class)
	e.Word(7, t.Group)
	e.Text(8, t.Prefix)
	e.Int(9, t.Number)
	e.Int(10, int64(t.Width))
	e.Word(11, string(t.State))
	e.Uint(12, t.Version)
	e.Near(13, t.Since, base)
	appendLane(&e, 14, t.Lane, t.Class)
	e.Near(17, t.Place, base)
	e.Near(18, int64(t.Seq), int64(t.Arrival))
	e.Near(19, t.Origin, base)
	e.Int(20, int64(t.Factor))
	e.Bool(21, t.Clipped)
	e.Int(22, t.HeadStart)
	e.Near(23, t.Due, base)
	e.Word(24, t.Why)
	appendCall(&e, t)
	e.Text(41, t.Business)
	e.Bool(42, t.Unique)
	e.Word(43, t.Channel)
	e.Int(44, int64(t.Party))
	e.Text(45, t.Name)
	e.Text(46, t.Phone)
	e.Text(47, t.Note)
	e.Bytes(48, t.Attrs)
	e.Bytes(49, t.Payload)
	e.Int(50, int64(t.Passed))
	for i := range t.Compared {
		e.Nested(51, func(e *Encoder) { appendMember(e, &t.Compared[i], base) })
	}
	for i := range t.Spans {
		e.Nested(52, func(e *Encoder) { appendSpan(e, &t.Spans[i], t) })
	}
	if t.Undo != nil {
		e.Nested(53, func(e *Encoder) { appendUndo(e, t.Undo, base) })
	}
	e.Near(55, t.Booked, base)
	for _, name := range t.Rules {
		e.Entry(56, name)
	}
	if t.Judged != nil {
		e.Nested(57, func(e *Encoder) { appendJudged(e, t.Judged, base) })
	}
	return e.buf
}

// appendLane writes a lane in three tags; nearly always its class is the
// token's own, which a flag says.
func appendLane(e *Encoder, tag int, l order.Lane, class string) {
	if l.Class != "" && l.Class == class {
		e.Bool(tag, true)
	} else {
		e.Text(tag, l.Class)
	}
	e.Word(tag+1, l.Group)
	e.Int(tag+2, int64(l.K))
}

func appendCall(e *Encoder, t *Token) {
	base := t.JoinedAt
	e.Near(25, t.FirstCalled, base)
	e.Near(26, t.CalledAt, base)
	e.Near(27, t.Deadline, base)
	e.Uint(28, t.CallNo)
	e.Int(29, int64(t.CallCount))
	e.Bool(30, t.Confirmed)
	e.Bool(31, t.Asked)
	e.Near(32, t.StartedAt, base)
	e.Near(33, t.EndedAt, base)
	e.Word(34, t.Reason)
	e.Text(35, string(t.Counter))
	e.Int(36, int64(t.Misses))
	e.Int(37, int64(t.Defers))
	e.Int(38, int64(t.Stars))
}

func appendMember(e *Encoder, m *order.Member, base int64) {
	appendLane(e, 1, m.Lane, "")
	e.Near(4, m.Key.Place, base)
	e.Uint(5, m.Key.Seq)
}

// appendSpan leaves the queue out where it is the token's own.
func appendSpan(e *Encoder, s *Span, t *Token) {
	e.Word(1, string(s.State))
	e.Near(2, s.From, t.JoinedAt)
	e.Near(3, s.To, t.JoinedAt)
	if s.Queue != "" && s.Queue == t.Queue {
		e.Bool(4, true)
	} else {
		e.Text(4, string(s.Queue))
	}
	e.Text(5, string(s.Counter))
	e.Word(6, s.Actor)
	e.Word(7, string(s.Verb))
	e.Bool(8, s.Implicit)
	e.Text(9, s.Reason)
}

func appendJudged(e *Encoder, j *Judged, base int64) {
	e.Text(1, string(j.Queue))
	e.Text(2, j.Class)
	if j.Waiting != nil {
		e.Int(3, int64(*j.Waiting)+1) // what is 0 is not written
	}
	e.Near(4, j.Missed, base)
	e.Near(5, j.Joined, base)
	e.Near(6, j.Served, base)
}

// DecodeToken reads what AppendToken wrote for the token id. It answers an
// error that wraps ErrDamaged for anything else, and never panics.
func DecodeToken(id dengxu.TokenID, b []byte) (*Token, error) {
	d := NewDecoder(b)
	t := &Token{ID: id}
	for d.Next() {
		switch tag := d.Tag(); {
		case tag < 25:
			decodeLine(d, t)
		case tag < 41:
			decodeCall(d, t)
		default:
			decodePerson(d, t)
		}
	}
	return t, d.Err()
}

// decodeLine reads the tags from 1 to 24. It is long because it is a table: one
// case a tag.
func decodeLine(d *Decoder, t *Token) {
	base := t.JoinedAt
	switch d.Tag() {
	case 1:
		t.JoinedAt = d.Int()
	case 2:
		t.Site = dengxu.SiteID(d.Text())
	case 3:
		t.Arrival = d.Uint()
	case 4:
		t.Queue = dengxu.QueueID(d.Text())
	case 5:
		t.Gen = int(d.Int())
	case 6:
		t.Class = d.Text()
	case 7:
		t.Group = d.Word()
	case 8:
		t.Prefix = d.Text()
	case 9:
		t.Number = d.Int()
	case 10:
		t.Width = int(d.Int())
	case 11:
		t.State = dengxu.State(d.Word())
	case 12:
		t.Version = d.Uint()
	case 13:
		t.Since = d.Near(base)
	case 14, 15, 16:
		decodeLane(d, 14, &t.Lane, t.Class)
	case 17:
		t.Place = d.Near(base)
	case 18:
		t.Seq = uint64(d.Near(int64(t.Arrival)))
	case 19:
		t.Origin = d.Near(base)
	case 20:
		t.Factor = int32(d.Int())
	case 21:
		t.Clipped = d.Bool()
	case 22:
		t.HeadStart = d.Int()
	case 23:
		t.Due = d.Near(base)
	case 24:
		t.Why = d.Word()
	}
}

func decodeLane(d *Decoder, tag int, l *order.Lane, class string) {
	switch d.Tag() - tag {
	case 0:
		if d.kind == kindUint && d.Bool() {
			l.Class = class
		} else {
			l.Class = d.Text()
		}
	case 1:
		l.Group = d.Word()
	case 2:
		l.K = int(d.Int())
	}
}

// decodeCall reads the tags from 25 to 40.
func decodeCall(d *Decoder, t *Token) {
	base := t.JoinedAt
	switch d.Tag() {
	case 25:
		t.FirstCalled = d.Near(base)
	case 26:
		t.CalledAt = d.Near(base)
	case 27:
		t.Deadline = d.Near(base)
	case 28:
		t.CallNo = d.Uint()
	case 29:
		t.CallCount = int(d.Int())
	case 30:
		t.Confirmed = d.Bool()
	case 31:
		t.Asked = d.Bool()
	case 32:
		t.StartedAt = d.Near(base)
	case 33:
		t.EndedAt = d.Near(base)
	case 34:
		t.Reason = d.Word()
	case 35:
		t.Counter = dengxu.CounterID(d.Text())
	case 36:
		t.Misses = int(d.Int())
	case 37:
		t.Defers = int(d.Int())
	case 38:
		t.Stars = int(d.Int())
	default:
		d.Unknown()
	}
}

// decodePerson reads the tags from 41 on.
func decodePerson(d *Decoder, t *Token) {
	switch d.Tag() {
	case 41:
		t.Business = d.Text()
	case 42:
		t.Unique = d.Bool()
	case 43:
		t.Channel = d.Word()
	case 44:
		t.Party = int(d.Int())
	case 45:
		t.Name = d.Text()
	case 46:
		t.Phone = d.Text()
	case 47:
		t.Note = d.Text()
	case 48:
		t.Attrs = d.Bytes()
	case 49:
		t.Payload = d.Bytes()
	case 50:
		t.Passed = int(d.Int())
	case 51:
		var m order.Member
		d.Nested(func(d *Decoder) { decodeMember(d, &m, t.JoinedAt) })
		t.Compared = append(t.Compared, m)
	case 52:
		var s Span
		d.Nested(func(d *Decoder) { decodeSpan(d, &s, t) })
		t.Spans = append(t.Spans, s)
	case 53:
		t.Undo = new(Undo)
		d.Nested(func(d *Decoder) { decodeUndo(d, t.Undo, t.JoinedAt) })
	case 55:
		t.Booked = d.Near(t.JoinedAt)
	case 56:
		t.Rules = append(t.Rules, d.Text())
	case 57:
		t.Judged = new(Judged)
		d.Nested(func(d *Decoder) { decodeJudged(d, t.Judged, t.JoinedAt) })
	default:
		d.Unknown()
	}
}

func decodeMember(d *Decoder, m *order.Member, base int64) {
	switch d.Tag() {
	case 1, 2, 3:
		decodeLane(d, 1, &m.Lane, "")
	case 4:
		m.Key.Place = d.Near(base)
	case 5:
		m.Key.Seq = d.Uint()
	default:
		d.Unknown()
	}
}

func decodeSpan(d *Decoder, s *Span, t *Token) {
	switch d.Tag() {
	case 1:
		s.State = dengxu.State(d.Word())
	case 2:
		s.From = d.Near(t.JoinedAt)
	case 3:
		s.To = d.Near(t.JoinedAt)
	case 4:
		if d.kind == kindUint && d.Bool() {
			s.Queue = t.Queue
		} else {
			s.Queue = dengxu.QueueID(d.Text())
		}
	case 5:
		s.Counter = dengxu.CounterID(d.Text())
	case 6:
		s.Actor = d.Word()
	case 7:
		s.Verb = dengxu.Verb(d.Word())
	case 8:
		s.Implicit = d.Bool()
	case 9:
		s.Reason = d.Text()
	default:
		d.Unknown()
	}
}

func decodeJudged(d *Decoder, j *Judged, base int64) {
	switch d.Tag() {
	case 1:
		j.Queue = dengxu.QueueID(d.Text())
	case 2:
		j.Class = d.Text()
	case 3:
		j.Waiting = new(int(d.Int() - 1))
	case 4:
		j.Missed = d.Near(base)
	case 5:
		j.Joined = d.Near(base)
	case 6:
		j.Served = d.Near(base)
	default:
		d.Unknown()
	}
}
