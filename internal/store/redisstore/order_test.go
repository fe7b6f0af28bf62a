package redisstore

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/redis/rueidis"

	"github.com/dengxu/dengxu/internal/order"
	"github.com/dengxu/dengxu/internal/redistest"
)

//go:embed lua/order_*.lua testdata/order_driver.lua testdata/order_front.lua
var orderFiles embed.FS

// orderFragments are what the driver is put behind, in this order.
var orderFragments = []string{
	"lua/order_lanes.lua", "testdata/order_front.lua", "lua/order_rule.lua", "lua/order_judge.lua", "lua/order_pick.lua",
	"lua/order_ratio.lua", "lua/order_rank.lua", "testdata/order_driver.lua",
}

// orderPrelude is what the order fragments need, and counts what they ask.
const orderPrelude = `
local asked = {0, 0, 0}
local function zrange(min, max, offset, count)
  local got = redis.call('ZRANGEBYLEX', KEYS[1], min, max, 'LIMIT', offset, count)
  asked[1], asked[3] = asked[1] + 1, asked[3] + #got
  return got
end
local function zcount(min, max)
  asked[2] = asked[2] + 1
  return redis.call('ZLEXCOUNT', KEYS[1], min, max)
end
local function zbelow(prefix, place, seq)
  local bound = '(' .. prefix .. struct.pack('>I6', place)
  if seq then bound = bound .. struct.pack('>I6', seq) end
  return zcount('[' .. prefix, bound)
end
local function zat(prefix, i)
  asked[2], asked[3] = asked[2] + 1, asked[3] + 1
  i = i + redis.call('ZLEXCOUNT', KEYS[1], '-', '(' .. prefix)
  return redis.call('ZRANGE', KEYS[1], i, i)[1]
end
local owed = {}
local function tallies(day, fields)
  local found = {}
  for i, field in ipairs(fields) do found[i] = owed[field] or 0 end
  return found
end
`

// orderRig asks the script on a real server.
type orderRig struct {
	t      *testing.T
	client rueidis.Client
	sha    string
}

func newOrderRig(t *testing.T) *orderRig {
	t.Helper()
	g := &orderRig{t: t, client: newOrderServer(t)}
	if err := g.load(nil); err != nil {
		t.Fatal(err)
	}
	return g
}

// newOrderServer is a server of its own.
func newOrderServer(t *testing.T) rueidis.Client {
	t.Helper()
	server := redistest.Start(t, redistest.Options{})
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{server.Addr()}, DisableCache: true, ForceSingleClient: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// load loads the fragments, each changed by edit where that is given.
func (g *orderRig) load(edit func(name, text string) string) error {
	script := orderPrelude
	for _, name := range orderFragments {
		text, err := orderFiles.ReadFile(name)
		if err != nil {
			return err
		}
		if edit != nil {
			text = []byte(edit(name, string(text)))
		}
		script += string(text)
	}
	var err error
	g.sha, err = g.client.Do(g.t.Context(), g.client.B().ScriptLoad().Script(script).Build()).ToString()
	return err
}

// question is one ask of the driver, and what Go answers.
type question struct {
	name string
	args []string
	want any
}

func (q question) String() string { return fmt.Sprintf("%s %q", q.name, q.args) }

// diff is how an answer differs from Go's, or "". What is owed has no order.
func (q question) diff(r reply) string {
	if q.name == "pick" {
		for _, choice := range r.answer.([]any) {
			debts := choice.([]any)[7].([]any)
			slices.SortFunc(debts, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
		}
	}
	if reflect.DeepEqual(q.want, r.answer) {
		return ""
	}
	return gocmp.Diff(q.want, r.answer)
}

// reply is one answer of the driver.
type reply struct {
	zranges, zcounts, read int
	answer                 any // of nested arrays and strings, as question.want
}

// run asks the questions about each case on a key of its own, in one pipeline.
func (g *orderRig) run(cases []*orderCase, questions [][]question) [][]reply {
	g.t.Helper()
	replies, err := g.try(cases, questions)
	if err != nil {
		g.t.Fatal(err)
	}
	return replies
}

// try is run, and answers an error of the script.
func (g *orderRig) try(cases []*orderCase, questions [][]question) ([][]reply, error) {
	g.t.Helper()
	var commands []rueidis.Completed
	for i, c := range cases {
		args := append(c.args(), strconv.Itoa(len(questions[i])))
		for _, q := range questions[i] {
			args = append(append(args, q.name, strconv.Itoa(len(q.args))), q.args...)
		}
		key := "lines" + strconv.Itoa(i)
		commands = append(commands,
			g.client.B().Del().Key(key).Build(),
			g.client.B().Evalsha().Sha1(g.sha).Numkeys(1).Key(key).Arg(args...).Build())
	}
	results := g.client.DoMulti(g.t.Context(), commands...)
	replies := make([][]reply, len(cases))
	for i := range cases {
		answers, err := results[2*i+1].ToArray()
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, cases[i])
		}
		for _, a := range answers {
			v := plain(g.t, a).([]any)
			replies[i] = append(replies[i], reply{zranges: atoi(v[0]), zcounts: atoi(v[1]), read: atoi(v[2]), answer: v[3]})
		}
	}
	return replies, nil
}

func plain(t *testing.T, m rueidis.RedisMessage) any {
	t.Helper()
	if !m.IsArray() {
		s, err := m.ToString()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	values, err := m.ToArray()
	if err != nil {
		t.Fatal(err)
	}
	all := []any{}
	for _, v := range values {
		all = append(all, plain(t, v))
	}
	return all
}

func atoi(v any) int {
	n, err := strconv.Atoi(v.(string))
	if err != nil {
		panic(err)
	}
	return n
}

func decimal[N int | int64 | uint64](n N) string { return fmt.Sprint(n) }

func (c *orderCase) askPick(mode order.Mode, n int, exclude uint64) question {
	want := []any{}
	for _, choice := range order.Pick(c.now, c.specs, mode, n, exclude) {
		x, m := c.index(choice.Line), choice.Member
		compared := []any{}
		for _, o := range choice.Compared {
			// A head's bytes have no line in them.
			compared = append(compared, x.head(o))
		}
		debts := []any{}
		for _, group := range slices.Sorted(maps.Keys(choice.Debts)) {
			debts = append(debts, group+"\x00"+decimal(choice.Debts[group]))
		}
		want = append(want, []any{
			decimal(choice.Line + 1), x.member(m), decimal(m.Key.Place), decimal(m.Key.Seq), x.ids[m.Key.Seq],
			decimal(choice.Passed), compared, debts,
		})
	}
	name := []string{order.Oldest: "oldest", order.Listed: "listed"}[mode]
	return question{"pick", []string{name, decimal(n), decimal(exclude)}, want}
}

// askRank asks for a rank twice: with and without the lanes being known.
func (c *orderCase) askRank(spec int, m order.Member) []question {
	want := []any{decimal(order.Rank(c.now, m, c.specs[spec]))}
	args := []string{decimal(spec + 1), m.Lane.Class, m.Lane.Group, decimal(m.Lane.K), decimal(m.Key.Place), decimal(m.Key.Seq)}
	return []question{{"rank", args, want}, {"found", args, want}}
}

func (c *orderCase) askLanes(spec int) question {
	x := c.index(spec)
	want := []any{}
	for _, l := range slices.SortedFunc(x.Lanes(), order.Lane.Compare) {
		head := x.keys[l][0]
		want = append(want, []any{
			x.line + x.lane(l), l.Class, l.Group, decimal(l.K),
			x.member(order.Member{Lane: l, Key: head}), decimal(head.Place), decimal(head.Seq),
		})
	}
	return question{"lanes", []string{decimal(spec + 1)}, want}
}

// randomQuestions are about all that stand, and about some that do not.
func (c *orderCase) randomQuestions(r *rand.Rand) []question {
	var all []order.Member
	for _, x := range c.lines {
		all = slices.AppendSeq(all, x.members())
	}
	var questions []question
	for _, mode := range []order.Mode{order.Oldest, order.Listed} {
		exclude := uint64(0)
		if r.IntN(2) == 0 && len(all) > 0 {
			exclude = all[r.IntN(len(all))].Key.Seq
		}
		questions = append(questions, c.askPick(mode, r.IntN(21), exclude), c.askPick(mode, 100, exclude))
	}
	for i := range c.specs {
		questions = append(questions, c.askLanes(i))
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, m := range all[:min(len(all), 8)] {
		spec := r.IntN(len(c.specs))
		questions = append(questions, c.askRank(spec, m)...)
		switch r.IntN(5) { // and of somebody who does not stand there
		case 0:
			m.Key.Seq = math.MaxUint64
		case 1:
			m.Key.Place = c.now + r.Int64N(5) - 2 // also before 1970
		case 2:
			m.Lane.K = casePaces[r.IntN(len(casePaces))]
		case 3:
			m.Lane.Class = []string{"", "a", "@1", "@3"}[r.IntN(4)]
		case 4:
			m.Lane.Group = caseGroups[r.IntN(len(caseGroups))]
		}
		questions = append(questions, c.askRank(spec, m)...)
	}
	return questions
}

func orderCases() int {
	if os.Getenv("DENGXU_TORTURE") == "1" {
		return 100_000
	}
	return 3_000
}

func TestOrderInLuaIsOrderInGo(t *testing.T) {
	t.Parallel()
	const together = 100
	rig := newOrderRig(t)
	asked, picked := 0, 0
	for seed := 0; seed < orderCases(); seed += together {
		var cases []*orderCase
		var questions [][]question
		for i := range together {
			r := rand.New(rand.NewPCG(uint64(seed+i), 3))
			c := randomOrderCase(r)
			cases, questions = append(cases, c), append(questions, c.randomQuestions(r))
		}
		for i, replies := range rig.run(cases, questions) {
			for j, q := range questions[i] {
				if diff := q.diff(replies[j]); diff != "" {
					t.Fatalf("seed %d: %v (-go +lua):\n%s\n%s", seed+i, q, diff, cases[i])
				}
				asked++
				if q.name == "pick" {
					picked += len(q.want.([]any))
				}
			}
		}
	}
	t.Logf("%d questions, %d picked", asked, picked)
}
