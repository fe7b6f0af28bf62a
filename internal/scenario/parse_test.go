package scenario_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dengxu/dengxu/internal/scenario"
	"github.com/dengxu/dengxu/internal/store/storetest"
)

const opening = "site hall\nqueue main\ncounter 1\n  queues: [main]\n" // four lines

func TestMistakesHaveTheirLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", ":1: the story is empty"},
		{"# nothing\n\n", ":1: the story is empty"},
		{"queue main\n", ":1: a site stands before"},
		{"site hall\nbegin 2026-03-02 09:00\n", ":2: begin stands before everything else"},
		{"begin tomorrow\nsite hall\n", `:2: "tomorrow" is no time`},
		{"begin 0001-01-01 09:00\nsite hall\n", ":2: a story begins from 1972"},
		{"only sometimes\n", `:1: a story is played only direct or only http, not "sometimes"`},
		{"site hall\n  colour: red\n", `:2: unknown key colour`},
		{"site hall\n  name: A\n  time_zone: [\n", ":3: "},
		{"site hall\n  time_zone: Nowhere/City\n", ":1: time_zone"},
		{"site hall\nqueue main\n\n  # why\n  max_length: many\n", ":5: max_length must be a number"},
		{opening + "dance ann", `:5: unknown word "dance"`},
		{opening + "join ann queue=lab", `:5: there is no queue "lab" yet`},
		{opening + "join ann hat=red", `:5: join does not know "hat"`},
		{opening + "join ann party=many", `:5: party: "many" is no int`},
		{opening + "join ann party=1 party_size=2", ":5: party_size stands twice"},
		{opening + "join waiting", `:5: "waiting" is no name for a token`},
		{opening + "join Ann", `:5: "Ann" is no name for a token`},
		{opening + "join ann by=li", `:5: there is no key "li" yet`},
		{opening + "join ann queue=main queues=main", ":5: give queue or queues"},
		{opening + "join ann name~A", ":5: name~A: before the arrow only = makes sense"},
		{opening + "complete ann", `:5: nobody is called "ann" yet`},
		{opening + "join ann\nmove ann place=tail after=1", ":6: give place or after"},
		{opening + "join ann\nmove ann after=x", ":6: after: "},
		{opening + "call 2", `:5: there is no counter "2" yet`},
		{opening + "call 1 → ", ":5: after an arrow stands one answer"},
		{opening + "call 1 → A001 → A002", ":5: there are two arrows"},
		{opening + "call 1 → refused", ":5: refused needs a code"},
		{opening + "call 1 → refused rudely", ":5: refused needs a code"},
		{opening + "call 1 → refused conflict state now", `:5: "now" stands after the reason`},
		{opening + `call 1 → A001 name="Ann`, ":5: name: a quote is not closed"},
		{opening + "call 1 → A001 rank=0 rank=1", ":5: rank stands twice"},
		{opening + "call 1 → A001\n  rank=0", ":6: nothing may be indented below call"},
		{opening + `join ann attrs={"age":`, ":5: attrs: this is not JSON"},
		{opening + "at 07:59", ":5: it is 2026-03-02 08:00:00 already"},
		{opening + "at noon", `:5: "noon" is no time`},
		{opening + "after a while", ":5: write: after 90s"},
		{opening + "after -5m", `:5: "-5m" is no time to pass`},
		{opening + "at 09:00 → A001", ":5: time has no answer"},
		{opening + "expect", ":5: write: expect NAME"},
		{opening + "expect queue main", ":5: what is expected of queue?"},
		{opening + "expect queue main open", `:5: what is "open"?`},
		{opening + "expect queue lab waiting=0", `:5: there is no queue "lab" yet`},
		{opening + "expect event", ":5: write: expect event TYPE"},
		{opening + "join ann\nexpect ann rank=0 → A001", ":6: write: expect NAME"},
		{opening + "together", ":5: nothing is indented below together"},
		{opening + "together\n  call 1\n  at 09:00", ":7: time stands in a together"},
		{opening + "together\n  call 1\n  together", ":7: together stands alone"},
		{opening + "together\n  0 times call 1", `:6: "0 times"`},
		{opening + "together\n  9000 times call 1\n  9000 times call 1", ":7: a together has at most 10000 steps"},
		{opening + "2 times call 1", `:5: "2 times"`},
		{opening + "together\n  call 1\none of", ":7: nothing is indented below one of"},
		{opening + "together\n  call 1\none of\n  A001, refused", ":8: refused needs a code"},
		{opening + "together\n  call 1\none of\n  A002..A001", ":8: A002..A001 has no numbers"},
		{opening + "one of\n  A001", `:5: unknown word "one"`},
		{opening + "close site hall", ":5: only a queue or a counter can close"},
		{opening + "change key li\n  role: admin", ":5: a change is of"},
		{opening + "key holder\n  role: admin", ":5: by=holder means nobody's key"},
		{opening + "restart → A001", ":5: restart stands alone"},
	} {
		_, err := scenario.Parse("t.story", c.text)
		if err == nil || !strings.HasPrefix(err.Error(), "t.story"+c.want) {
			t.Errorf("%q:\n got %v\nwant t.story%s…", c.text, err, c.want)
		}
	}
}

// TestPlayFindsWhatIsWrong plays stories that tell something untrue. A player
// that let one of them pass could not fail.
func TestPlayFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"join ann → A002", ":5: it is A001, waiting; want A002"},
		{"join ann → serving", ":5: it is A001, waiting; want serving"},
		{"join ann rank=0 → A001", `:5: join does not know "rank"`},
		{"join ann → A001 rank=1", ":5: rank is 0, want =1"},
		{"join ann → rank!=0", ":5: rank is 0, want !=0"},
		{"join ann → estimate.reason~data", ":5: estimate.reason is no_counter_open, want ~data"},
		{"join ann → joined_at=08:01", ":5: joined_at is 08:00, want =08:01"},
		{"join ann\njoin bob → ann", ":6: it is A002, waiting; want ann"},
		{"join ann → refused full", ":5: it was not refused, want full"},
		{"call 1", ":5: called nobody: none_waiting"},
		{"call 1 → nobody queue_closed", `:5: nobody because of "none_waiting", want "queue_closed"`},
		{"call 1 → A001", ":5: called nobody: none_waiting"},
		{"join ann\ncall 1 → nobody", ":6: called A001, want nobody"},
		{"join ann\ncall 1\ncall 1", ":7: conflict: counter 1 still has A001"},
		{"join ann\ncall 1\ncall 1 → refused conflict state", ":7: refused with conflict counter_busy, want conflict state"},
		{"join ann\ncall 1\ncall 1 → refused closed", ":7: refused with conflict counter_busy, want closed"},
		{"join ann\ncall 1\ncall 1 → refused conflict token.number=A002", ":7: token.number is A001, want =A002"},
		{"join ann\ncall 1\ncall 1 → A001", ":7: refused: conflict counter_busy"},
		{"join ann\nexpect ann calling", ":6: it is A001, waiting; want calling"},
		{"join ann\nexpect line main", ":6: there are 1: A001; want 0"},
		{"join ann\njoin bob\nexpect line main bob ann", ":7: in A001 A002: it is A001, waiting; want bob"},
		{"join ann\nexpect history ann waiting calling", ":6: went through waiting, want waiting calling"},
		{"join ann\nexpect queue main waiting=0", ":6: waiting is 1, want =0"},
		{"expect counter 1 state=open", ":5: state is closed, want =open"},
		{"join ann\nexpect event called ann", ":6: no such event came; since the last one: site.changed, queue.changed, counter.changed, token.joined A001"},
		{"join ann\nexpect event joined\nexpect event joined", ":7: no such event came"},
		{"together\n  join\n  join → A003", ":7: it is A00"},
		{"together\n  join\n  call 2", ":7: there is no counter"},
		{"together\n  join\n  join\none of\n  A001\n  A001, A003", ":5: together it ended in no such way:"},
		{"together\n  join\n  join\none of\n  A001, refused full", ":5: together it ended in no such way:"},
		{"join ann → refused conflict\n", ":5: it was not refused"},
		{"estimate main → rank=3", ":5: rank is 0, want =3"},
		{"change queue main\n  max_length: -1", ":5: invalid: "},
		{"join ann key=k\njoin ann key=k party=2", ":6: invalid: "},
	} {
		story, err := scenario.Parse("t.story", opening+c.text)
		if err == nil {
			clock := storetest.NewClock()
			clock.Advance(story.Starts.Sub(clock.Wall()))
			h, _ := halls["memory"](t, clock)
			err = scenario.Play(t.Context(), story, newDirect(t, h))
		}
		if err == nil || !strings.HasPrefix(err.Error(), "t.story"+c.want) {
			t.Errorf("%q:\n got %v\nwant t.story%s…", c.text, err, c.want)
		}
	}
}

// FuzzParse reads anything: it never panics, a mistake has a line of the text,
// and what can be read is read alike again.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.story")
	if err != nil || len(files) == 0 {
		f.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(opening + "together\n  3 times join key=\"a b\" -> A001..A003\none of\n  A001..A003\n")
	f.Fuzz(func(t *testing.T, text string) {
		story, err := scenario.Parse("f", text)
		if err != nil {
			placed, ok := errors.AsType[*scenario.Error](err)
			if lines := strings.Count(text, "\n") + 1; !ok || placed.Line < 1 || placed.Line > lines {
				t.Fatalf("a mistake without a line of the text: %v", err)
			}
			return
		}
		again, err := scenario.Parse("f", text)
		if err != nil || len(again.Steps) != len(story.Steps) || !again.Starts.Equal(story.Starts) {
			t.Fatalf("read again it is another story: %v", err)
		}
		last := 0
		for _, step := range story.Steps {
			if step.Line <= last {
				t.Fatalf("step of line %d after line %d", step.Line, last)
			}
			last = step.Line
		}
	})
}
