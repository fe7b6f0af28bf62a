package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/store"
)

var update = flag.Bool("update", false, "rewrite golden files")

// filled sets every field of a struct to something that is not zero.
func filled(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				filled(v.Field(i), n)
			}
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte(`{"a":[1,"<&>"]}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		filled(v.Index(0), n)
	case reflect.String:
		v.SetString("text <&> 陈 " + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	}
}

// everyKind is a row of every kind with all its fields.
func everyKind() []store.Row {
	n := int64(0)
	rows := []store.Row{
		{Kind: store.RowNumbers, Numbers: new(store.Numbers)},
		{Kind: store.RowToken, Token: &store.Token{}},
		{Kind: store.RowArchived, Token: &store.Token{}},
		{Kind: store.RowTally, Count: &store.Count{Name: "joins/north-a", Day: 20514, N: 7}},
		{Kind: store.RowTally, Count: &store.Count{Name: store.OwedTally("north-a", "", "VIP"), Day: 20514, N: 7}},
		{Kind: store.RowSeries, Count: &store.Count{Name: "A", Day: 20514, N: 7}},
		{Kind: store.RowMark, Mark: new(store.Mark)},
		{Kind: store.RowOp, Op: &store.Memory{
			Name: store.OpName("scope", "key"), Hash: "000102030405060708090a0b0c0d0e0f",
			Expires: 9, Note: "join", Tokens: []dengxu.TokenID{"t"}, Picked: 1,
		}},
		{Kind: store.RowDoc, Doc: new(store.Doc)},
	}
	for i := range rows {
		r := &rows[i]
		switch r.Kind { //nolint:exhaustive // the others are whole
		case store.RowNumbers:
			filled(reflect.ValueOf(r.Numbers).Elem(), &n)
			continue
		case store.RowToken, store.RowArchived:
			filled(reflect.ValueOf(r.Token).Elem(), &n)
			r.Token.Site, r.Token.State = "north", dengxu.StateCompleted
		case store.RowMark:
			filled(reflect.ValueOf(r.Mark).Elem(), &n)
		case store.RowDoc:
			filled(reflect.ValueOf(r.Doc).Elem(), &n)
			r.Doc.Site = "north"
		}
		r.Site = "north"
	}
	return rows
}

// TestFormat holds the names of a file: those of format 1 mean what they meant,
// and a field of a record that was added is in it too.
func TestFormat(t *testing.T) {
	t.Parallel()
	rows := everyKind()
	var file bytes.Buffer
	w := &lineWriter{w: &file, sum: sha256.New()}
	for i := range rows {
		if err := errors.Join(rows[i].Check(), w.put(&line{Row: rows[i]})); err != nil {
			t.Fatal(err)
		}
	}
	golden := filepath.Join("testdata", "rows-1.jsonl")
	if *update {
		if err := os.WriteFile(golden, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), file.String()); diff != "" {
		t.Errorf("the format is another one (-golden +now):\n%s", diff)
	}
	i := 0
	for text := range bytes.Lines(want) {
		l, err := parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows[i], l.Row); diff != "" {
			t.Errorf("row %d reads as another one:\n%s", i, diff)
		}
		i++
	}
}

// TestNotText: what JSON cannot say is refused, not changed.
func TestNotText(t *testing.T) {
	t.Parallel()
	w := &lineWriter{w: new(bytes.Buffer), sum: sha256.New()}
	row := func(business string) *line {
		return &line{Row: store.Row{Kind: store.RowMark, Mark: &store.Mark{MarkKey: store.MarkKey{Queue: "a", Business: business}, At: 1, Until: 2}}}
	}
	if err := w.put(row("\xff")); err == nil {
		t.Error("a text that is no UTF-8 was written")
	}
	for _, fine := range []string{"\ufffd", `\ufffd`, "<\u2028>"} {
		if err := w.put(row(fine)); err != nil {
			t.Errorf("%q: %v", fine, err)
		}
	}
}
