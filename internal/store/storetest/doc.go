package storetest

import (
	"github.com/dengxu/dengxu/internal/store"
)

// Documents are small, versioned, and read whole.
var docExamples = []example{
	{"written, changed, deleted, written again", docLife},
	{"a stale version is refused", docStale},
	{"expected at a version or absent", docExpected},
	{"all are listed", docAll},
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
