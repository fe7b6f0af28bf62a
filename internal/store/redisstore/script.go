package redisstore

import (
	"context"
	"crypto/sha1" //nolint:gosec // EVALSHA names scripts by it
	"embed"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"github.com/redis/rueidis"
)

//go:embed lua/*.lua
var sources embed.FS

// script is a whole script, made of files that each begin with their contract.
type script struct {
	files []string // names in lua/, the script's own last
	text  string
	sha   string
}

// The fragments that several scripts begin with, in the order of what needs what.
var (
	ticking = []string{"meta", "clock", "cell"}
	// What reads is short, for a function of a script costs something each time
	// the script is run.
	reading = append(
		slices.Clip(ticking), "fetch", "pending", "lines", "tail", "record", "count", "lane", "order_lanes", "order_rule", "order_ratio", "order_rank",
		"entry", "person", "recall",
	)
	writing = append(
		slices.Clip(reading), "front", "order_judge", "order_pick", "expect", "batch", "judge", "arrival", "index", "series", "place", "write",
		"archive", "op", "doc", "call", "owed", "log", "carry", "dump_keep",
	)
)

// scripts are all scripts of one store: publish is how hints are sent.
type scripts struct {
	commit, free, tick, view, due, list, events, create, fence, sweep, leave, dump, load *script
}

func newScripts(publish string) *scripts {
	prelude := "local PUBLISH = '" + publish + "'\n"
	return &scripts{
		commit: newScript("#!lua", prelude, writing, "attempt", "kind", "newcomer", "turn_kind", "turn_look", "turn_carry", "turn", "commit"),
		// free is for groups in which nobody joins: they must go on when the
		// memory is full, for they make room.
		free:   newScript("#!lua flags=allow-oom", prelude, writing, "attempt", "kind", "newcomer", "turn_kind", "turn_look", "turn_carry", "turn", "commit"),
		tick:   newScript("#!lua flags=allow-oom", "", ticking, "tick"),
		view:   newScript("#!lua flags=no-writes", "", reading, "beginning", "after", "ask", "view"),
		due:    newScript("#!lua flags=no-writes", "", ticking, "due"),
		list:   newScript("#!lua flags=no-writes", "", ticking, "record", "list"),
		events: newScript("#!lua flags=no-writes", "", nil, "meta", "cell", "events"),
		create: newScript("#!lua", "", ticking, "found", "create"),
		fence:  newScript("#!lua flags=allow-oom", prelude, ticking, "found", "log", "fence"),
		dump:   newScript("#!lua flags=allow-oom", "", ticking, "dump_keep", "dump"),
		load:   newScript("#!lua", prelude, writing, "load"),
		leave:  newScript("#!lua flags=allow-oom", "", nil, "meta", "cell", "found", "leave"),
		sweep:  newScript("#!lua flags=allow-oom", "", nil, "meta", "cell", "found", "sweep"),
	}
}

// newScript joins fragments. Comments are left out, since servers keep the
// text, and names of numbers are replaced by them: a function of Lua has room
// for 200 locals, and a number is faster than any of them.
func newScript(shebang, prelude string, begin []string, rest ...string) *script {
	var text strings.Builder
	text.WriteString(shebang + "\n" + prelude)
	numbers := make(map[string]string)
	files := slices.Concat(begin, rest)
	for _, name := range files {
		source, err := sources.ReadFile("lua/" + name + ".lua")
		if err != nil {
			panic(err) // embedded
		}
		for line := range strings.Lines(string(source)) {
			trimmed := strings.TrimSpace(line)
			if trimmed == "" || strings.HasPrefix(trimmed, "--") || constants(line, numbers) {
				continue
			}
			text.WriteString(inline(line, numbers))
		}
	}
	sum := sha1.Sum([]byte(text.String())) //nolint:gosec // as above
	return &script{files: files, text: text.String(), sha: hex.EncodeToString(sum[:])}
}

var (
	constantLine = regexp.MustCompile(`^local ([A-Z][A-Z0-9_]*(?:, [A-Z][A-Z0-9_]*)*) = ([0-9.]+(?:, [0-9.]+)*)(?: --.*)?\n$`)
	upperWord    = regexp.MustCompile(`'[^']*'|"[^"]*"|\b[A-Z][A-Z0-9_]*\b`)
)

// constants takes in a line that names numbers, and reports whether it is one.
func constants(line string, numbers map[string]string) bool {
	m := constantLine.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	names, values := strings.Split(m[1], ", "), strings.Split(m[2], ", ")
	for i, name := range names {
		numbers[name] = values[i]
	}
	return true
}

// inline replaces the names of numbers in a line, outside of its strings.
func inline(line string, numbers map[string]string) string {
	return upperWord.ReplaceAllStringFunc(line, func(word string) string {
		if n, ok := numbers[word]; ok {
			return n
		}
		return word
	})
}

// run runs the script, and sends its text where a server does not know it: a
// new one, or one whose scripts were flushed.
func (s *script) run(ctx context.Context, c rueidis.CoreClient, keys []string, args ...string) ([]byte, error) {
	reply := c.Do(ctx, c.B().Evalsha().Sha1(s.sha).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
	if e, ok := rueidis.IsRedisErr(reply.Error()); ok && e.IsNoScript() {
		reply = c.Do(ctx, c.B().Eval().Script(s.text).Numkeys(int64(len(keys))).Key(keys...).Arg(args...).Build())
	}
	return reply.AsBytes()
}
