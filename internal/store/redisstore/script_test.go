package redisstore

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
)

// byFile are the scripts by the file that says what they take and return; free
// is commit with another flag.
func byFile(s *scripts) map[string][]*script {
	return map[string][]*script{
		"commit": {s.commit, s.free}, "tick": {s.tick}, "view": {s.view}, "due": {s.due}, "list": {s.list}, "events": {s.events},
		"create": {s.create}, "fence": {s.fence}, "sweep": {s.sweep}, "leave": {s.leave}, "dump": {s.dump}, "load": {s.load},
	}
}

// header is the contract at the beginning of a file: purpose, keys, arguments by
// number, and returns.
type header struct {
	purpose, keys, returns string
	args                   []string
}

var (
	argument = regexp.MustCompile(`ARGV\[(\d+)\]`)
	word     = regexp.MustCompile("`([a-z]+)`")
	packed   = regexp.MustCompile(`cmsgpack\.pack\(\{'([a-z]+)'`)
)

// cutHeader parts a file into header and code.
func cutHeader(source string) (head, code string) {
	var comment []string
	for line := range strings.Lines(source) {
		if !strings.HasPrefix(line, "--") {
			break
		}
		comment = append(comment, strings.TrimSpace(strings.TrimPrefix(line, "--")))
		source = strings.TrimPrefix(source, line)
	}
	return strings.Join(comment, " "), source
}

func readHeader(t *testing.T, head string) header {
	t.Helper()
	purpose, rest, keyed := strings.Cut(head, "KEYS: ")
	rest, returns, returning := strings.Cut(rest, "RETURNS ")
	if !keyed || !returning || purpose == "" || returns == "" {
		t.Fatalf("the header has no purpose, KEYS or RETURNS: %q", head)
	}
	h := header{purpose: purpose, returns: returns}
	at := argument.FindAllStringSubmatchIndex(rest, -1)
	if len(at) == 0 {
		t.Fatalf("the header has no ARGV: %q", head)
	}
	h.keys = rest[:at[0][0]]
	for i, a := range at {
		if n := rest[a[2]:a[3]]; n != strconv.Itoa(i+1) {
			t.Errorf("ARGV[%s] stands where %d should", n, i+1)
		}
		end := len(rest)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		h.args = append(h.args, rest[a[1]:end])
	}
	return h
}

func readLua(t *testing.T, name string) string {
	t.Helper()
	source, err := sources.ReadFile("lua/" + name + ".lua")
	if err != nil {
		t.Fatal(err)
	}
	return string(source)
}

// TestScriptsSayWhatTheyTake holds the header of each script against its code:
// as many arguments, the same words in the answer, each known to Go.
func TestScriptsSayWhatTheyTake(t *testing.T) {
	t.Parallel()
	var golang strings.Builder
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golang.Write(source)
	}
	for name := range byFile(newScripts("PUBLISH")) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head, code := cutHeader(readLua(t, name))
			h := readHeader(t, head)
			if h.keys != "the partition's keys (meta.lua). " {
				t.Errorf("KEYS: %q", h.keys)
			}
			var used []string
			for _, m := range argument.FindAllStringSubmatch(code, -1) {
				used = append(used, m[1])
			}
			slices.Sort(used)
			var named []string
			for i := range h.args {
				named = append(named, strconv.Itoa(i+1))
			}
			if diff := cmp.Diff(named, slices.Compact(used)); diff != "" {
				t.Errorf("ARGV (-header +code):\n%s", diff)
			}
			said, packs := words(word, h.returns), words(packed, code)
			if diff := cmp.Diff(said, packs); diff != "" {
				t.Errorf("RETURNS (-header +code):\n%s", diff)
			}
			for _, w := range packs {
				if w != "ok" && !strings.Contains(golang.String(), strconv.Quote(w)) {
					t.Errorf("Go does not know %q", w)
				}
			}
		})
	}
}

// words are what an expression finds, sorted, each once.
func words(e *regexp.Regexp, text string) []string {
	found := map[string]bool{}
	for _, m := range e.FindAllStringSubmatch(text, -1) {
		found[m[1]] = true
	}
	return slices.Sorted(maps.Keys(found))
}

// TestLuaFiles: each is used, begins with what it is for, and keeps to its
// length or argues.
func TestLuaFiles(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for name, scripts := range byFile(newScripts("PUBLISH")) {
		used[name] = true
		for _, s := range scripts {
			for _, f := range s.files {
				used[f] = true
			}
		}
	}
	files, err := fs.Glob(sources, "lua/*.lua")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "lua/"), ".lua")
		if !used[name] {
			t.Errorf("%s is in no script", file)
		}
		source := readLua(t, name)
		head, _ := cutHeader(source)
		if head == "" {
			t.Errorf("%s does not say what it is for", file)
		}
		if n := strings.Count(source, "\n"); n > 80 && !strings.Contains(head, "Longer than 80 lines: ") {
			t.Errorf("%s has %d lines, more than 80, and does not say why", file, n)
		}
	}
}

// recording is a client that keeps what scripts are called with.
type recording struct {
	rueidis.Client
	mu    sync.Mutex
	calls [][]string
}

// Do keeps a command and makes it.
func (r *recording) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	r.mu.Lock()
	r.calls = append(r.calls, slices.Clone(cmd.Commands()))
	r.mu.Unlock()
	return r.Client.Do(ctx, cmd)
}

// TestGoGivesWhatScriptsTake calls each script as Go does, on a real server: the
// keys of the partition, as many arguments as the header has, and no field in a
// packed one that the header does not name.
func TestGoGivesWhatScriptsTake(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{URL: redistest.Shared(t).URL(), Prefix: redistest.Prefix(t)})
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{Client: s.client()}
	s.link.Store(&link{r})
	callAll(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for name, scripts := range byFile(s.scripts) {
		for _, script := range scripts {
			names[script.sha] = name
		}
	}
	seen := map[string]bool{}
	for _, call := range r.calls {
		if call[0] != "EVALSHA" {
			continue
		}
		name, keys := names[call[1]], s.parts[0].keys
		seen[call[1]] = true
		if call[2] != strconv.Itoa(len(keys)) || !slices.Equal(call[3:3+len(keys)], keys) {
			t.Errorf("%s gets the keys %q, want those of the partition", name, call[2:3+len(keys)])
		}
		head, _ := cutHeader(readLua(t, name))
		h, args := readHeader(t, head), call[3+len(keys):]
		if len(args) != len(h.args) {
			t.Errorf("%s gets %d arguments, its header has %d", name, len(args), len(h.args))
			continue
		}
		for i, arg := range args {
			if !strings.HasPrefix(h.args[i], ", packed") {
				continue
			}
			for _, field := range fieldsOf(t, arg) {
				if !regexp.MustCompile(`\b` + field + `\b`).MatchString(h.args[i]) {
					t.Errorf("%s gets the field %s in ARGV[%d], which its header does not name", name, field, i+1)
				}
			}
		}
	}
	for sha, name := range names {
		if !seen[sha] {
			t.Errorf("%s (%s) was not called", name, sha)
		}
	}
}

// fieldsOf are the names in a packed table, as the server reads it.
func fieldsOf(t *testing.T, packed string) []string {
	t.Helper()
	reply := redistest.Shared(t).MustDo("EVAL", `local names = {}
for name in pairs(cmsgpack.unpack(ARGV[1])) do names[#names + 1] = name end
return names`, 0, packed)
	var names []string
	for _, name := range reply.([]any) {
		names = append(names, fmt.Sprint(name))
	}
	return names
}

// callAll has every script called; that of leave is when the store closes.
func callAll(t *testing.T, s *Store) {
	t.Helper()
	ctx, p := t.Context(), s.parts[0]
	token := store.Token{
		ID: "one", Site: "north", Queue: "clinic", State: dengxu.StateWaiting, Version: 1, Since: store.Now, JoinedAt: store.Now,
		Place: store.Now, Lane: order.Lane{K: order.Ordinary}, Factor: 1000,
	}
	doc := store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "clinic"}, Site: "north", Body: []byte("{}")}
	other := doc
	other.Key.ID, other.Version = "other", 1
	_, _, created := s.openPart(ctx, 0, 1)
	_, joined := s.Commit(ctx, store.Batch{Site: "north", Tokens: []store.TokenWrite{{Token: token}}})
	_, written := s.Commit(ctx, store.Batch{Site: "north", Docs: []store.DocWrite{{Doc: doc}}})
	_, viewed := s.View(ctx, store.Ask{Tokens: []dengxu.TokenID{"one"}})
	_, due := s.Due(ctx, 0, 1)
	_, listed := s.List(ctx, store.ListAsk{Limit: 1})
	_, read := s.Events(ctx, store.Cursor{}, 1)
	_, dumped := s.Dump(ctx, 0, func(store.Row) error { return nil })
	_, ticked := p.read(ctx, s.scripts.tick)
	for what, err := range map[string]error{
		"create": created, "join": joined, "write": written, "view": viewed, "due": due, "list": listed, "events": read, "dump": dumped, "tick": ticked,
		"load":  s.Load(ctx, 0, []store.Row{{Kind: store.RowDoc, Site: "north", Doc: &other}}),
		"fence": p.fence(ctx), "sweep": p.sweep(ctx),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
