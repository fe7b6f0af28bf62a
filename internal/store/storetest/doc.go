package storetest

import (
	"bytes"
	"fmt"

	"github.com/dengxu/dengxu/internal/store"
)

// Documents are versioned and read whole; bulky ones only by name.
var docExamples = []example{
	{"written, changed, deleted, written again", docLife},
	{"a stale version is refused", docStale},
	{"expected at a version or absent", docExpected},
	{"all are listed", docAll},
	{"bulky ones are left out where all are listed", docBulky},
	{"a body may be large, and no larger than MaxBody", docLarge},
	{"what was handed out and in is not shared", docCopies},
}

var clinicKey = store.DocKey{Kind: store.DocQueue, ID: "clinic"}

func docWrite(expect uint64, body string) store.Batch {
	return store.Batch{Docs: []store.DocWrite{{
		Doc: store.Doc{Key: clinicKey, Site: site, Body: []byte(body)}, Expect: expect,
	}}}
}

func (k *kit) doc(key store.DocKey) *store.Doc {
	k.t.Helper()
	return k.view(store.Ask{Docs: []store.DocKey{key}}).Docs[0]
}

func docLife(k *kit) {
	if d := k.doc(clinicKey); d != nil {
		k.t.Fatalf("an absent document reads as %+v", d)
	}
	want := store.Doc{Key: clinicKey, Site: site, Version: 1, Body: []byte("one")}
	same(k.t, "result", []store.Doc{want}, k.commit(docWrite(0, "one")).Docs)
	same(k.t, "written", &want, k.doc(clinicKey))
	b := docWrite(1, "two")
	b.Docs[0].Doc.Due = store.Now + 500
	want.Version, want.Body, want.Due = 2, []byte("two"), k.clock.Now()+500
	same(k.t, "result of the change", []store.Doc{want}, k.commit(b).Docs)
	same(k.t, "changed", &want, k.doc(clinicKey))
	gone := docWrite(2, "")
	gone.Docs[0].Delete = true
	same(k.t, "result of the deletion", []store.Doc{{Key: clinicKey, Site: site}}, k.commit(gone).Docs)
	if d := k.doc(clinicKey); d != nil {
		k.t.Errorf("deleted, it reads as %+v", d)
	}
	if d := k.commit(docWrite(0, "three")).Docs[0]; d.Version != 1 {
		k.t.Errorf("written again, it has version %d", d.Version)
	}
}

func docStale(k *kit) {
	k.commit(docWrite(0, "one"))
	k.commit(docWrite(1, "two"))
	for _, stale := range []uint64{0, 1, 3} {
		r := k.refused(docWrite(stale, "three"), store.DocAt{Key: clinicKey, Version: stale})
		if r.Have != 2 {
			k.t.Errorf("have %d, want 2", r.Have)
		}
	}
	if d := k.doc(clinicKey); string(d.Body) != "two" {
		k.t.Errorf("a stale write left %q", d.Body)
	}
}

func docExpected(k *kit) {
	k.expects(store.DocAt{Key: clinicKey})
	k.commit(docWrite(0, "one"))
	k.expects(store.DocAt{Key: clinicKey, Version: 1})
	if r := k.expectsNot(store.DocAt{Key: clinicKey}); r.Have != 1 {
		k.t.Errorf("have %d, want 1", r.Have)
	}
	k.expects(store.DocAt{Key: store.DocKey{Kind: store.DocCounter, ID: "clinic"}})
}

func docAll(k *kit) {
	var want []store.Doc
	for _, key := range []store.DocKey{
		{Kind: store.DocCounter, ID: "b"}, {Kind: store.DocQueue, ID: "a"}, {Kind: store.DocQueue, ID: "b"},
	} {
		d := store.Doc{Key: key, Site: site, Body: []byte(key.ID)}
		want = append(want, k.commit(store.Batch{Docs: []store.DocWrite{{Doc: d}}}).Docs...)
	}
	got, err := k.s.Docs(k.t.Context(), 0)
	if err != nil {
		k.t.Fatal(err)
	}
	same(k.t, "documents by kind and id", want, got)
}

// bulkyKey is a document that is large and no settings.
var bulkyKey = store.DocKey{Kind: store.DocLesson, ID: "clinic/3"}

// bulkyWrite writes it.
func bulkyWrite(expect uint64, body string) store.Batch {
	b := docWrite(expect, body)
	b.Docs[0].Doc.Key = bulkyKey
	return b
}

func docBulky(k *kit) {
	kinds := []store.DocKind{store.DocOutlook, store.DocModel, store.DocLesson, store.DocPromise}
	b := docWrite(0, `{}`)
	var keys []store.DocKey
	for i, kind := range kinds {
		if !kind.Bulky() {
			k.t.Errorf("%s is not bulky", kind)
		}
		keys = append(keys, store.DocKey{Kind: kind, ID: "clinic/3"})
		d := store.Doc{Key: keys[i], Site: site, Due: store.Now + int64(i), Body: []byte(`{"of":"` + string(kind) + `"}`)}
		b.Docs = append(b.Docs, store.DocWrite{Doc: d})
	}
	b.Docs = append(b.Docs, store.DocWrite{Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "~model"}, Site: site, Body: []byte(`1`)}})
	written := k.commit(b).Docs
	all, err := k.s.Docs(k.t.Context(), 0)
	if err != nil {
		k.t.Fatal(err)
	}
	same(k.t, "all documents", []store.Doc{written[0], written[5]}, all)
	read := k.view(store.Ask{Docs: keys}).Docs
	var dumped []store.Doc
	for _, r := range k.dump(k.s) {
		if r.Doc != nil && r.Doc.Key.Kind.Bulky() {
			dumped = append(dumped, *r.Doc)
		}
	}
	for i := range keys {
		same(k.t, "read by name", &written[1+i], read[i])
	}
	same(k.t, "dumped", []store.Doc{written[3], written[2], written[1], written[4]}, dumped)
	d, err := k.s.Due(k.t.Context(), 0, 9)
	if err != nil || len(d.Entries) != 1 || d.Entries[0].Doc != keys[0] || d.Next != written[2].Due {
		k.t.Errorf("due: %+v, %v", d, err)
	}
	k.expects(store.DocAt{Key: bulkyKey, Version: 1})
	k.refused(bulkyWrite(0, `2`), store.DocAt{Key: bulkyKey})
	k.commit(bulkyWrite(1, `2`))
	gone := bulkyWrite(2, "")
	gone.Docs[0].Delete = true
	k.commit(gone)
	if d := k.doc(bulkyKey); d != nil {
		k.t.Errorf("deleted, it reads as %+v", d)
	}
}

// large is a body of so many bytes, in which no byte is far from another.
func large(n int) []byte {
	body := bytes.Repeat([]byte("0123456789abcdef-"), n/17+1)[:n]
	body[0], body[n-1] = '"', '"'
	return body
}

func docLarge(k *kit) {
	var want []store.Doc
	for i, n := range []int{200 << 10, 1<<16 - 1, 1 << 16, store.MaxBody} {
		b := bulkyWrite(0, string(large(n)))
		b.Docs[0].Doc.Key.ID = fmt.Sprint("clinic/", i)
		d := k.commit(b).Docs[0]
		same(k.t, "read", &d, k.doc(d.Key))
		want = append(want, d)
	}
	rows := k.dump(k.s)
	for i, r := range rows[1:] {
		same(k.t, "dumped", &want[i], r.Doc)
	}
	m := k.model()
	k.load(m, rows)
	same(k.t, "loaded", moved(rows), moved(k.dump(m)))
	k.commit(bulkyWrite(1, `1`)) // clinic/3
	fresh := *rows[4].Doc
	fresh.Key.ID = "clinic/4"
	k.load(k.s, []store.Row{{Kind: store.RowDoc, Site: site, Doc: &fresh}})
	same(k.t, "loaded here", &fresh, k.doc(fresh.Key))
	k.malformed("a body that is too large", bulkyWrite(2, string(large(store.MaxBody+1))))
	fresh.Key.ID, fresh.Body = "clinic/5", large(store.MaxBody+1)
	if err := k.s.Load(k.t.Context(), 0, []store.Row{{Kind: store.RowDoc, Site: site, Doc: &fresh}}); err == nil {
		k.t.Error("a body that is too large was loaded")
	}
	if d := k.doc(bulkyKey); d == nil || string(d.Body) != `1` {
		k.t.Errorf("a body that is too large left %+v", d)
	}
}

func docCopies(k *kit) {
	b := docWrite(0, "one")
	r := k.commit(b)
	b.Docs[0].Doc.Body[0] = '1'
	r.Docs[0].Body[1] = '2'
	k.doc(clinicKey).Body[2] = '3'
	all, err := k.s.Docs(k.t.Context(), 0)
	if err != nil {
		k.t.Fatal(err)
	}
	all[0].Body[0] = '4'
	if d := k.doc(clinicKey); string(d.Body) != "one" {
		k.t.Errorf("the stored body became %q", d.Body)
	}
}
