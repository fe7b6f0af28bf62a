package strictyaml

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dengxu/dengxu"
)

type sample struct {
	ID string `json:"site"`
	dengxu.Site
	Queues map[string]dengxu.Queue   `json:"queues"`
	Count  map[string]dengxu.Counter `json:"counters"`
	Flag   bool                      `json:"flag"`
	Net    []netip.Prefix            `json:"net"`
}

func TestDecodeFillsWhatTheFileSays(t *testing.T) {
	t.Parallel()
	n, err := Parse([]byte(`
site: clinic
name: 仁和门诊
opening_hours:
  mon-fri: ["08:00-12:00"]
  dates: {"2026-10-01": closed}
queues:
  a: {prefix: "1", number_width: 4, groups: {VIP: {factor: 0.5}}, public_join: loopback}
  b:
counters:
  1: {queues: [a, {id: b, classes: [x]}]}
flag: true
net: [10.0.0.0/8]
`))
	if err != nil {
		t.Fatal(err)
	}
	var got sample
	if err := n.Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := sample{
		ID: "clinic", Flag: true, Net: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Queues: map[string]dengxu.Queue{
			"a": {
				Prefix: new("1"), NumberWidth: new(4), PublicJoin: &dengxu.PublicJoin{Loopback: true},
				Groups: map[string]dengxu.Group{"VIP": {Factor: new(0.5)}},
			},
			"b": {},
		},
		Count: map[string]dengxu.Counter{"1": {Queues: []dengxu.CounterQueue{{ID: "a"}, {ID: "b", Classes: []string{"x"}}}}},
	}
	want.Name = "仁和门诊"
	want.OpeningHours = &dengxu.OpeningHours{
		Days:  map[string][]string{"mon-fri": {"08:00-12:00"}},
		Dates: map[string][]string{"2026-10-01": {}},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{"site: a\nnmae: x\n", "2:1: unknown key nmae"},
		{"queues:\n  a: {prefix: B, foo: 1}\n", "2:18: unknown key foo in a"},
		{"queues:\n  a:\n    missed:\n      polcy: keep\n", "4:7: unknown key polcy in missed"},
		{"queues:\n  a: {prefix: 7}\n", `2:15: prefix must be a string: put it in quotes`},
		{"queues:\n  a: {number_width: x}\n", `2:21: number_width must be a number, not a string`},
		{"queues:\n  a: {number_width: 1.5}\n", `2:21: number_width cannot be 1.5`},
		{"queues: [a]\n", `1:9: queues must be a mapping, not a list`},
		{"languages: zh\n", `1:12: languages must be a list, not a string`},
		{"net: [nowhere]\n", ""},
		{"net: [{a: b}]\n", "1:8: net must be a string, not a mapping"},
		{"flag: 1\n", `1:7: flag must be true or false, not a number`},
		{"site:\n", `1:7: site must be a string, not empty`},
		{"a: 1\na: 2\n", ``},
		{"opening_hours:\n  mon: [\"08:00-12:00\"]\n  mond: []\n", "3:3: unknown key \"mond\": a day is mon, tue, wed, thu, fri, sat, sun, or two of them with a dash"},
		{"counters:\n  1: {queues: [a, {id: b, clases: [x]}]}\n", "2:27: unknown field \"clases\""},
		{"queues:\n  a: {public_join: true}\n", `2:20: must be false, "loopback" or {"fields", "classes"}`},
		{"x: *a\n", "1:4: *a is not defined before"},
		{"a: &x {flag: true}\nb:\n  <<: *x\n", "3:3: merge keys are not supported"},
		{"site: a\n---\nsite: b\n", "3:1: a second document: the file may have one only"},
		{"site: \"a\n", ""},
		{"site: [a\n", ""},
	} {
		n, err := Parse([]byte(row.text))
		if err == nil {
			err = n.Decode(new(sample))
		}
		if err == nil {
			t.Errorf("%q: no error", row.text)
			continue
		}
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%q: %T has no place", row.text, err)
		}
		if row.want != "" && err.Error() != row.want {
			t.Errorf("%q:\n got %v\nwant %s", row.text, err, row.want)
		} else if row.want == "" {
			t.Logf("%q: %v", row.text, err)
		}
	}
}

func TestAliasesAreFollowedAndBounded(t *testing.T) {
	t.Parallel()
	n, err := Parse([]byte("queues:\n  a: &a {prefix: B}\n  b: *a\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got sample
	if err := n.Decode(&got); err != nil || *got.Queues["b"].Prefix != "B" {
		t.Errorf("%+v, %v", got, err)
	}
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'i'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [*" + p + ",*" + p + ",*" + p + ",*" + p + ",*" + p + ",*" + p + ",*" + p + ",*" + p + "]\n"
	}
	if _, err := Parse([]byte(bomb)); err == nil {
		t.Error("a file that grows a millionfold was read")
	}
}

func TestAnEmptyFileIsAnEmptyMapping(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		n, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := n.Decode(new(sample)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("queues:\n  a: &x {prefix: \"1\"}\n  b: *x\n"))
	f.Add([]byte("opening_hours: {mon-fri: [\"08:00-12:00\"]}\n? a\n: b\n- c\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := Parse(text)
		if err == nil {
			err = n.Decode(new(sample))
		}
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%T has no place", err)
			}
		}
	})
}
