package redisstore_test

import (
	"strings"
	"testing"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/redistest"
	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// damage is one thing that is broken by hand, and the finding that tells of it.
type damage struct {
	name, kind, text string
	do               func(key func(string) string)
}

func damages(server *redistest.Server) []damage {
	return []damage{
		{"a lane lacks a member", "lanes", "missing clinic", func(key func(string) string) {
			server.MustDo("ZREMRANGEBYRANK", key("lines"), 0, 0)
		}},
		{"a lane has a stranger", "lanes", "no record for clinic", func(key func(string) string) {
			first := server.MustDo("ZRANGE", key("lines"), 0, 0).([]any)[0].(string)
			server.MustDo("ZADD", key("lines"), 0, first[:len(first)-1]+"x")
		}},
		{"a count is wrong", "counts", "counting", func(key func(string) string) {
			server.MustDo("HSET", key("state"), "cclinic\x00\x00\x00\x50\x22", strings.Repeat("\x00", 39)+"\x05")
		}},
		{"nothing is due", "due", "missing", func(key func(string) string) {
			server.MustDo("ZREMRANGEBYRANK", key("due"), 0, 0)
		}},
		{"a due time is another", "due", "missing", func(key func(string) string) {
			first := server.MustDo("ZRANGE", key("due"), 0, 0).([]any)[0].(string)
			server.MustDo("ZINCRBY", key("due"), 5, first)
		}},
		{"a person is forgotten", "persons", "missing", func(key func(string) string) {
			server.MustDo("HDEL", key("state"), "p"+business)
		}},
		{"a counter is forgotten", "counters", "missing desk", func(key func(string) string) {
			server.MustDo("HDEL", key("state"), "bdesk")
		}},
		{"an arrival is forgotten", "arrivals", "missing 0: ", func(key func(string) string) {
			server.MustDo("HDEL", key("state"), "i0")
		}},
		{"a 64 of arrivals is forgotten", "buckets", "missing 0", func(key func(string) string) {
			server.MustDo("ZREM", key("buckets"), "0")
		}},
		{"a document has another version", "docs", "version", func(key func(string) string) {
			server.MustDo("HSET", key("state"), "vqueue\x00clinic", "7")
		}},
		{"a record is gone", "versions", "has no record", func(key func(string) string) {
			id := someID(server, key("live"))
			server.MustDo("HDEL", key("live"), id)
		}},
		{"a record is cut off", "records", "cut off", func(key func(string) string) {
			id := someID(server, key("live"))
			server.MustDo("HSET", key("live"), id, "short")
		}},
		{"a record has an older version", "versions", "its last event tells", func(key func(string) string) {
			id := someID(server, key("ended"))
			rec := server.MustDo("HGET", key("ended"), id).(string)
			server.MustDo("HSET", key("ended"), id, rec[:3]+"\x01"+rec[4:])
		}},
		{"a record stands among the ended", "records", "stands among", func(key func(string) string) {
			id := someID(server, key("live"))
			server.MustDo("HSET", key("ended"), id, server.MustDo("HGET", key("live"), id))
			server.MustDo("HDEL", key("live"), id)
		}},
		{"a series is behind", "series", "says that its last is", func(key func(string) string) {
			server.MustDo("HSET", key("state"), "nsnorth\x00Aclinic", "\x00\x00\x50\x22\x00\x00\x00\x00\x00\x01")
		}},
		{"the log lacks an event", "events", "stands where", func(key func(string) string) {
			server.MustDo("XDEL", key("log"), "2-0")
		}},
		{"the numbers are behind", "arrivals", "the last one given", func(key func(string) string) {
			m := server.MustDo("HGET", key("state"), "m").(string)
			server.MustDo("HSET", key("state"), "m", m[:6]+strings.Repeat("\x00", 6)+m[12:])
		}},
	}
}

// TestAuditFindsDamage breaks one thing at a time by hand.
func TestAuditFindsDamage(t *testing.T) {
	t.Parallel()
	server := redistest.Shared(t)
	for _, d := range damages(server) {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			prefix := redistest.Prefix(t)
			populate(t, openAt(t, server.URL(), prefix))
			key := func(name string) string {
				return server.MustDo("KEYS", prefix+"*}"+name).([]any)[0].(string)
			}
			rules := store.Auditor{Series: func(tok *store.Token) (string, int, bool) { return "A" + string(tok.Queue), tok.Gen, false }}
			audit := func() []store.Finding {
				found, err := redisstore.AuditURL(t.Context(), redisstore.Options{URL: server.URL(), Prefix: prefix}, rules)
				if err != nil {
					t.Fatal(err)
				}
				return found
			}
			if found := audit(); len(found) != 0 {
				t.Fatalf("before any damage: %v", found)
			}
			d.do(key)
			found := audit()
			for _, f := range found {
				if f.Kind == d.kind && strings.Contains(f.Text, d.text) {
					return
				}
			}
			t.Errorf("found %v, want %s: %s", found, d.kind, d.text)
		})
	}
}

// someID is a field of a hash that is not the one that keeps it existing.
func someID(server *redistest.Server, key string) string {
	for _, id := range server.MustDo("HKEYS", key).([]any) {
		if id != "" {
			return id.(string)
		}
	}
	return ""
}

const business = "ann"

// populate joins three, calls one, completes another, and writes a document.
func populate(t *testing.T, s *redisstore.Store) {
	t.Helper()
	commit := func(b store.Batch) store.Result {
		t.Helper()
		res, err := s.Commit(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	for i := range 4 {
		b := joinBatch(0, "clinic", newID(), true)
		if i == 3 {
			b.Tokens[0].Token.Business = business
		}
		commit(b)
	}
	first := commit(callBatch(0, "clinic", "desk")).Tokens[0]
	commit(completeBatch(0, first))
	commit(callBatch(0, "clinic", "desk"))
	commit(store.Batch{Site: "north", Docs: []store.DocWrite{{
		Doc: store.Doc{Key: store.DocKey{Kind: store.DocQueue, ID: "clinic"}, Site: "north", Due: store.Now + 5000, Body: []byte(`{}`)},
	}}, Events: []store.EventSpec{{Type: dengxu.EventQueueChanged, Queue: "clinic"}}})
}

// TestAuditOfALivingStore finds nothing while a crowd goes on.
func TestAuditOfALivingStore(t *testing.T) {
	t.Parallel()
	s := openAt(t, redistest.Shared(t).URL(), redistest.Prefix(t))
	c := newCrowd(t, s)
	c.start(4, 4)
	c.await(50)
	for range rounds(2, 20) {
		clean(t, s)
	}
	c.end()
	c.flawless(s)
}
