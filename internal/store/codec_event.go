package store

import (
	"github.com/dengxu/dengxu"
)

// AppendEvent appends the encoding of ev, all of it but its Number, to dst.
func AppendEvent(dst []byte, ev *Event) []byte {
	e := Encoder{append(dst, codecVersion)}
	e.Int(1, ev.At)
	e.Word(2, string(ev.Type))
	e.Text(3, string(ev.Site))
	e.Text(4, string(ev.Queue))
	e.Text(5, string(ev.Counter))
	e.Text(6, string(ev.Token))
	e.Text(7, ev.Ref)
	e.Text(8, ev.Label)
	e.Word(9, string(ev.State))
	e.Uint(10, ev.Version)
	e.Word(11, ev.Actor)
	e.Word(12, ev.Reason)
	e.Bytes(13, ev.Data)
	return e.buf
}

// DecodeEvent reads what AppendEvent wrote for event number n. It answers an
// error that wraps ErrDamaged for anything else, and never panics.
func DecodeEvent(n uint64, b []byte) (*Event, error) {
	d := NewDecoder(b)
	ev := &Event{Number: n}
	for d.Next() {
		switch d.Tag() {
		case 1:
			ev.At = d.Int()
		case 2:
			ev.Type = dengxu.EventType(d.Word())
		case 3:
			ev.Site = dengxu.SiteID(d.Text())
		case 4:
			ev.Queue = dengxu.QueueID(d.Text())
		case 5:
			ev.Counter = dengxu.CounterID(d.Text())
		case 6:
			ev.Token = dengxu.TokenID(d.Text())
		case 7:
			ev.Ref = d.Text()
		case 8:
			ev.Label = d.Text()
		case 9:
			ev.State = dengxu.State(d.Word())
		case 10:
			ev.Version = d.Uint()
		case 11:
			ev.Actor = d.Word()
		case 12:
			ev.Reason = d.Word()
		case 13:
			ev.Data = d.Bytes()
		default:
			d.Unknown()
		}
	}
	return ev, d.Err()
}

// AppendDoc appends the encoding of doc, all of it but its Key, to dst.
func AppendDoc(dst []byte, doc *Doc) []byte {
	e := Encoder{append(dst, codecVersion)}
	e.Text(1, string(doc.Site))
	e.Uint(2, doc.Version)
	e.Int(3, doc.Due)
	e.Bytes(4, doc.Body)
	return e.buf
}

// DecodeDoc reads what AppendDoc wrote for the document key. It answers an
// error that wraps ErrDamaged for anything else, and never panics.
func DecodeDoc(key DocKey, b []byte) (*Doc, error) {
	d := NewDecoder(b)
	doc := &Doc{Key: key}
	for d.Next() {
		switch d.Tag() {
		case 1:
			doc.Site = dengxu.SiteID(d.Text())
		case 2:
			doc.Version = d.Uint()
		case 3:
			doc.Due = d.Int()
		case 4:
			doc.Body = d.Bytes()
		default:
			d.Unknown()
		}
	}
	return doc, d.Err()
}
