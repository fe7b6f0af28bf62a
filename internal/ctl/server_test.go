package ctl

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"go.uber.org/goleak"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/dengxutest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ran is what a command left behind.
type ran struct {
	code     int
	out, err string
}

// ctl runs a command line against a server.
func ctl(t *testing.T, s *dengxutest.Server, args ...string) ran {
	t.Helper()
	var out, errs bytes.Buffer
	var grammar Command
	parser, err := kong.New(&grammar, kong.Writers(&out, &errs), kong.BindTo(t.Context(), (*context.Context)(nil)),
		kong.Bind(Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, Offline{
			NewAdminKey: func(_ context.Context, data, _ string) (string, error) {
				return "secret-of-" + filepath.Base(data), nil
			},
		}))
	if err != nil {
		t.Fatal(err)
	}
	k, err := parser.Parse(append([]string{"--url", s.URL, "--key", s.Key}, args...))
	if err != nil {
		return ran{code: ExitUsage, err: err.Error()}
	}
	err = k.Run()
	if err != nil {
		errs.WriteString(err.Error())
	}
	return ran{ExitCode(err), out.String(), errs.String()}
}

// ok runs a command that must succeed and returns what it printed.
func ok(t *testing.T, s *dengxutest.Server, args ...string) string {
	t.Helper()
	r := ctl(t, s, args...)
	if r.code != 0 {
		t.Fatalf("%v: exit %d: %s", args, r.code, r.err)
	}
	return r.out
}

func TestASiteFromItsFileAndBack(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	out := ok(t, s, "apply", "-f", "testdata/clinic.yaml", "--dry-run")
	if !strings.Contains(out, "queue blood: would be made") || !strings.Contains(out, "nothing was changed") {
		t.Errorf("dry run:\n%s", out)
	}
	if sites, err := s.Client.Sites(t.Context()); err != nil || len(sites) != 0 {
		t.Fatalf("the dry run changed something: %v, %v", sites, err)
	}
	if out := ok(t, s, "apply", "-f", "testdata/clinic.yaml"); !strings.Contains(out, "6 changed") {
		t.Errorf("first time:\n%s", out)
	}
	if out := ok(t, s, "apply", "-f", "testdata/clinic.yaml", "--prune"); !strings.Contains(out, "0 changed") {
		t.Errorf("second time:\n%s", out)
	}
	exported := filepath.Join(t.TempDir(), "clinic.yaml")
	text := ok(t, s, "export", "site", "clinic")
	if err := os.WriteFile(exported, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := ok(t, s, "apply", "-f", exported, "--prune"); !strings.Contains(out, "0 changed") {
		t.Errorf("the export changes something:\n%s\n%s", out, text)
	}
}

func TestApplyChangesOnlyTheDifference(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	ok(t, s, "apply", "-f", "testdata/clinic.yaml")
	before, err := s.Client.GetQueue(t.Context(), "internal")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/clinic.yaml")
	if err != nil {
		t.Fatal(err)
	}
	// The class return goes, and with it the counter that serves it: the queue
	// can only lose the class after the counter does.
	edited := strings.NewReplacer("classes: {first: {}, return: {}}", "classes: {first: {}}",
		"queues: [{id: internal, classes: [return]}]", "queues: [internal]", "  blood-1:", "  blood-2:").Replace(string(text))
	file := filepath.Join(t.TempDir(), "edited.yaml")
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	out := ok(t, s, "apply", "-f", file, "--prune")
	for _, want := range []string{
		"site clinic: as it is", "queue internal: changed", "classes.return: {} → –", "queue blood: as it is",
		"counter room-3: as it is", "counter room-4: changed", "counter blood-2: new", "counter blood-1: deleted", "4 changed",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	after, err := s.Client.GetQueue(t.Context(), "internal")
	if err != nil || after.Version != before.Version+1 {
		t.Errorf("version %d after %d, %v", after.Version, before.Version, err)
	}
	if site, err := s.Client.GetSite(t.Context(), "clinic"); err != nil || site.Version != 1 {
		t.Errorf("the site was written: version %d, %v", site.Version, err)
	}
}

// TestPruneTellsWhatItDid: a counter with a token stays, and nothing says that
// it went.
func TestPruneTellsWhatItDid(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	s.Join("main", 1)
	ok(t, s, "call-next", "1")
	file := filepath.Join(t.TempDir(), "main.yaml")
	if err := os.WriteFile(file, []byte("site: main\nqueues:\n  main: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const hindered = "counter 1: would be deleted, but it still has A001"
	if out := ok(t, s, "apply", "-f", file, "--prune", "--dry-run"); !strings.Contains(out, hindered) {
		t.Errorf("dry run: no %q in\n%s", hindered, out)
	}
	r := ctl(t, s, "apply", "-f", file, "--prune")
	if r.code != ExitRefused || strings.Contains(r.out, "deleted") || !strings.Contains(r.err, "counter 1: conflict") {
		t.Errorf("exit %d: %s\n%s", r.code, r.err, r.out)
	}
	ok(t, s, "complete", "--of-site", "main", "A001")
	if out := ok(t, s, "apply", "-f", file, "--prune"); !strings.Contains(out, "counter 1: deleted\n") {
		t.Errorf("after the token has gone:\n%s", out)
	}
}

// TestAListTellsOfMore: a list that was cut says so, and how to go on.
func TestAListTellsOfMore(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	s.Join("main", 5)
	out := ok(t, s, "tokens", "list", "--site", "main", "--limit", "2")
	_, cursor, found := strings.Cut(out, "more: --cursor ")
	if !found || strings.Contains(out, "A003") {
		t.Fatalf("first page:\n%s", out)
	}
	cursor, _, _ = strings.Cut(cursor, ",")
	if out := ok(t, s, "tokens", "list", "--site", "main", "--cursor", cursor); strings.Contains(out, "A002") || !strings.Contains(out, "A005") || strings.Contains(out, "more:") {
		t.Errorf("second page:\n%s", out)
	}
	if out := ok(t, s, "tokens", "list", "--site", "main", "--limit", "2", "--all"); !strings.Contains(out, "A005") || strings.Contains(out, "more:") {
		t.Errorf("all:\n%s", out)
	}
}

func TestAMistakeInAFileChangesNothing(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t, dengxutest.Options{Bare: true})
	file := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(file, []byte("site: x\nqueues:\n  a: {webhooks: 1}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ctl(t, s, "apply", "-f", file)
	if r.code != ExitUsage || r.err != file+":3:7: unknown key webhooks in a" {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if sites, err := s.Client.Sites(t.Context()); err != nil || len(sites) != 0 {
		t.Errorf("%v, %v", sites, err)
	}
}

// TestAPersonsWayAtTheTerminal goes once through the verbs.
func TestAPersonsWayAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	ok(t, s, "queue", "put", "b", `{site: main, prefix: B, classes: {x: {}, "y": {}}, default_class: x}`)
	ok(t, s, "counter", "put", "2", "{site: main, queues: [b]}")
	ok(t, s, "queue", "patch", "main", "{recall_gap_seconds: 0}")
	var ticket dengxu.Ticket
	if err := json.Unmarshal([]byte(ok(t, s, "--json", "join", "main", "--name", "Li Hua", "--business-id", "p1")), &ticket); err != nil {
		t.Fatal(err)
	}
	number := []string{"--of-site", "main", ticket.Number}
	for _, step := range []struct {
		args []string
		want string
	}{
		{[]string{"call-next", "2"}, "nobody to call: none waiting"},
		{[]string{"position", string(ticket.ID)}, "waiting"},
		{[]string{"call-next", "1"}, "calling"},
		{append([]string{"recall"}, number...), "calling"},
		{append([]string{"confirm"}, number...), "calling"},
		{append([]string{"requeue"}, number...), "waiting"},
		{append([]string{"defer"}, number...), "scheduled"},
		{[]string{"call", "1", string(ticket.ID), "--reason", "asked for"}, "calling"},
		{append([]string{"start"}, number...), "serving"},
		{append([]string{"hold"}, number...), "held"},
		{append([]string{"resume"}, number...), "serving"},
		{append([]string{"transfer", "--to", "b", "--class", "y"}, number...), "waiting"},
		{append([]string{"edit", "--name", "Li Na"}, number...), "Li Na"},
		{append([]string{"move", "--place", "tail", "--reason", "asked to"}, number...), "waiting"},
		{[]string{"call-next", "2"}, "calling"},
		{append([]string{"miss"}, number...), "scheduled"},
		{append([]string{"position"}, number...), "scheduled until "},
		{append([]string{"reinstate"}, number...), "waiting"},
		{[]string{"call-next", "2"}, "calling"},
		{append([]string{"complete", "--counter", "2"}, number...), "completed"},
		{[]string{"undo", string(ticket.ID)}, "calling"},
		{[]string{"complete", string(ticket.ID)}, "completed"},
		{[]string{"rate", string(ticket.ID), "5"}, "completed"},
		{[]string{"show", string(ticket.ID)}, "rating: 5"},
		{[]string{"history", string(ticket.ID)}, "transfer"},
		{[]string{"history", string(ticket.ID)}, " UTC "},
		{[]string{"watch", string(ticket.ID)}, "completed"},
		{[]string{"tokens", "list", "--site", "main", "--state", "completed"}, ticket.Number},
		{[]string{"tokens", "list", "--queue", "b"}, "Li Na"},
		{[]string{"queue", "list"}, "LAST CALLED"},
		{[]string{"counter", "list", "--site", "main"}, "b"},
		{[]string{"queue", "stats", "b"}, "MEAN WAIT"},
		{[]string{"queue", "estimate", "main"}, "0 ahead"},
		{[]string{"queue", "pause", "b", "--reason", "lunch"}, "queue b is paused: lunch"},
		{[]string{"queue", "open", "b"}, "queue b is open"},
		{[]string{"counter", "pause", "2", "--reason", "lunch"}, "counter 2 is paused: lunch"},
		{[]string{"counter", "open", "2"}, "counter 2 is open"},
		{[]string{"counter", "close", "2"}, "counter 2 is closed"},
		{[]string{"queue", "close", "b", "--now"}, "queue b is closed"},
		{[]string{"site", "list"}, "UTC"},
		{[]string{"site", "get", "main"}, "time_zone: UTC"},
	} {
		if out := ok(t, s, step.args...); !strings.Contains(out, step.want) {
			t.Errorf("%v: no %q in\n%s", step.args, step.want, out)
		}
	}
}

func TestKeysAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	out := ok(t, s, "key", "put", "front", "{role: operator, sites: [main]}")
	_, secret, _ := strings.Cut(out, "secret: ")
	secret, _, _ = strings.Cut(secret, "\n")
	if _, err := s.WithKey(secret).GetQueue(t.Context(), "main"); err != nil {
		t.Errorf("the printed secret %q: %v", secret, err)
	}
	if out := ok(t, s, "key", "list"); !strings.Contains(out, "operator") || strings.Contains(out, secret) {
		t.Errorf("list:\n%s", out)
	}
	ok(t, s, "key", "delete", "front")
	if _, err := s.WithKey(secret).GetQueue(t.Context(), "main"); dengxu.CodeOf(err) != dengxu.Unauthenticated {
		t.Errorf("after the delete: %v", err)
	}
	if out := ok(t, s, "key", "new", "--data", "/x/dengxu-data"); out != "secret-of-dengxu-data\n" {
		t.Errorf("new: %s", out)
	}
}

// TestANumberIsNotATokenID: who writes the printed number is told how.
func TestANumberIsNotATokenID(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	if r := ctl(t, s, "complete", "A001"); r.code != ExitRefused || !strings.Contains(r.err, "--of-site") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

func TestExitCodesTellWhatHappened(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	for _, row := range []struct {
		args []string
		code int
	}{
		{[]string{"queue", "get", "main"}, ExitDone},
		{[]string{"queue", "get", "nowhere"}, ExitRefused},
		{[]string{"queue", "delete", "main"}, ExitRefused}, // a counter names it
		{[]string{"queue", "patch", "main", "{nonsense: 1}"}, ExitRefused},
		{[]string{"queue", "put", "x", "{nonsense: 1}"}, ExitUsage},
		{[]string{"queue", "frobnicate"}, ExitUsage},
		{[]string{"apply", "-f", "/no/such/file"}, ExitUsage},
		{[]string{"tokens", "list"}, ExitUsage},
		{[]string{"tokens", "list", "--site", "main", "--queue", "main"}, ExitUsage},
		{[]string{"complete", "--of-site", "main", "A999"}, ExitRefused},
		{[]string{"queue", "patch", "main", "{name: x}", "--if-match", "99"}, ExitRefused},
	} {
		if r := ctl(t, s, row.args...); r.code != row.code {
			t.Errorf("%v: exit %d, want %d: %s", row.args, r.code, row.code, r.err)
		}
	}
}

func TestEventsAtTheTerminal(t *testing.T) {
	t.Parallel()
	s := dengxutest.NewServer(t)
	cursor, err := s.Client.Cursor(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	s.Join("main", 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &stopAt{want: "token.joined", stop: cancel}
	e := &Env{Streams: Streams{Out: out, Err: out}, Client: s.Client}
	if err := (&EventsCmd{Site: "main", After: cursor}).Run(ctx, e); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "A001") {
		t.Errorf("printed %q", out.String())
	}
}

// stopAt calls stop once it has been written want.
type stopAt struct {
	bytes.Buffer
	want string
	stop func()
}

func (s *stopAt) Write(b []byte) (int, error) {
	n, err := s.Buffer.Write(b)
	if strings.Contains(s.String(), s.want) {
		s.stop()
	}
	return n, err
}
