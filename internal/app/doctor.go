package app

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dengxu/dengxu/internal/store"
	"github.com/dengxu/dengxu/internal/store/pebblestore"
	"github.com/dengxu/dengxu/internal/store/redisstore"
)

// Level says how grave a remark is.
type Level string

// The levels, from harmless to grave.
const (
	LevelOK     Level = "ok"
	LevelWarn   Level = "warn"   // it works, and may lose or stall what it need not
	LevelRefuse Level = "refuse" // no server starts over it
)

// Remark is one thing that Examine found out about a store.
type Remark struct {
	Level  Level  `json:"level"`
	Where  string `json:"where,omitempty"` // a server's address, or a folder
	What   string `json:"what"`
	Why    string `json:"why,omitempty"`    // what follows from it
	Change string `json:"change,omitempty"` // what to change; "" = nothing
}

// Loss is what servers were found to have lost after it was acknowledged, in
// the life of a store. Its words are those of the event partition.writes_lost.
type Loss struct {
	Times           uint64 `json:"times"`
	Events          uint64 `json:"events"` // at least
	Joins           uint64 `json:"joins"`
	NumbersBurned   uint64 `json:"numbers_burned"`
	NumbersRepeated uint64 `json:"numbers_repeated"`
	CallsRepeated   uint64 `json:"calls_repeated"`
}

// Examination is what is known of a store without serving it.
type Examination struct {
	Store          string           `json:"store"` // its URL, without a password
	Kind           string           `json:"kind"`
	Exists         bool             `json:"exists"`
	Durability     store.Durability `json:"durability"`
	DurabilityText string           `json:"durability_text"`
	Format         string           `json:"format,omitempty"`
	Partitions     int              `json:"partitions,omitempty"`
	Epochs         []uint64         `json:"epochs,omitempty"`    // by partition; 0 = could not be read
	Processes      int              `json:"processes,omitempty"` // enrolled on Redis
	Lost           *Loss            `json:"lost,omitempty"`      // Redis only
	Bytes          int64            `json:"bytes,omitempty"`     // folder only
	Remarks        []Remark         `json:"remarks"`
}

// Worst is the gravest level of the remarks.
func (x *Examination) Worst() Level {
	levels := []Level{LevelOK, LevelWarn, LevelRefuse}
	worst := LevelOK
	for _, r := range x.Remarks {
		if slices.Index(levels, r.Level) > slices.Index(levels, worst) {
			worst = r.Level
		}
	}
	return worst
}

func (x *Examination) say(level Level, where, what, why, change string) {
	x.Remarks = append(x.Remarks, Remark{level, where, what, why, change})
}

// Examine looks at the store that Options name, without making or changing
// anything, whether a server has it open or not. Options that contradict each
// other are Invalid; a store that cannot be looked at is a remark.
func Examine(ctx context.Context, o Options) (*Examination, error) {
	a, err := New(o)
	if err != nil {
		return nil, err
	}
	x := &Examination{Store: StoreName(a.o)}
	switch {
	case a.o.StoreURL == inMemory:
		x.Kind, x.Durability, x.DurabilityText = "memory", store.D0Memory, "Nothing is kept."
		x.say(LevelWarn, "", "everything is in memory", "the end of the process is the end of it", "use it for trying things out")
	case onRedis(a.o.StoreURL):
		x.redis(ctx, a.o)
	default:
		x.folder(storeDir(a.o))
	}
	return x, nil
}

func (x *Examination) redis(ctx context.Context, o Options) {
	x.Kind = "redis"
	r, err := redisOptions(o)
	var found *redisstore.Examined
	if err == nil {
		found, err = redisstore.Examine(ctx, r)
	}
	if err != nil {
		x.Durability, x.DurabilityText = store.D0Memory, "Nothing could be checked."
		x.say(LevelRefuse, "", "the store cannot be looked at: "+err.Error(), "no server can start over it", "see that Redis runs, and that URL, user and password are right")
		return
	}
	x.Exists, x.Format, x.Partitions, x.Epochs = found.Exists, found.Format, found.Partitions, found.Epochs
	x.Durability, x.DurabilityText = found.Report.Durability, found.Report.Text
	for _, m := range found.Report.Remarks {
		x.say(Level(m.Level), m.Server, m.What, m.Why, m.Change)
	}
	if err := found.Report.Unreplicated(); err != nil && r.Replicated {
		x.say(LevelRefuse, "", "no master has a replica", "no server starts with --durability replicated", "connect a replica, or run without")
	}
	for _, err := range found.Unread {
		x.say(LevelWarn, "", err.Error(), "its queues cannot be served now", "see why its server does not answer")
	}
	x.Processes = found.Processes
	if r.Partitions != 0 && found.Exists && r.Partitions != found.Partitions {
		x.say(LevelWarn, "", fmt.Sprintf("?partitions=%d is not what the store was made with, %d", r.Partitions, found.Partitions),
			"it changes nothing", "leave it out; to have another number, export and import into a new store")
	}
	l := found.Report.Lost
	x.Lost = &Loss{
		Times: l.Times, Events: l.Events, Joins: l.Joins, NumbersBurned: l.Burned, NumbersRepeated: l.Numbers, CallsRepeated: l.Calls,
	}
	if l.Times > 0 {
		what := fmt.Sprintf("commits that were acknowledged were lost, %d times: %d events, %d joins; %d numbers and %d calls were repeated",
			l.Times, l.Events, l.Joins, l.Numbers, l.Calls)
		x.say(LevelWarn, "", what, "people hold tickets that nobody knows", "set appendfsync always, and run with --durability replicated")
	}
}

func (x *Examination) folder(dir string) {
	x.Kind, x.Partitions = "pebble", 1
	x.Durability, x.DurabilityText = store.D2Commit, pebblestore.AboutText
	found, err := pebblestore.Examine(dir)
	switch {
	case errors.Is(err, store.ErrDamaged):
		x.say(LevelRefuse, dir, err.Error(), "no server starts over it", "name the right folder, or restore a backup")
	case err != nil:
		x.say(LevelRefuse, dir, err.Error(), "no server starts over it", "")
	}
	if err != nil {
		return
	}
	x.Exists, x.Bytes = found.Exists, found.Bytes
	if !found.Exists {
		x.say(LevelWarn, dir, "there is no store in this folder", "a start would make an empty one", "name the right folder, if there is one already")
		return
	}
	if found.Format > 0 {
		x.Format = fmt.Sprint(found.Format)
	}
	x.say(LevelOK, dir, fmt.Sprintf("format %d, %d files, %.1f MB", found.Format, found.Files, float64(found.Bytes)/(1<<20)), "", "")
	if found.InUse {
		x.say(LevelOK, dir, "a server has it open", "", "")
	} else {
		x.say(LevelOK, dir, "no server has it open", "", "")
	}
	if found.Open {
		x.say(LevelWarn, dir, "others than its owner may read it", "it holds names and phone numbers", "chmod 700 "+dir)
	}
}
