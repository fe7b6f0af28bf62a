package rule

import (
	"fmt"
	"time"
)

// Name is one name that a condition may use.
type Name struct {
	Name    string // as it is written, with its operand for a function
	Type    string // number, text, truth, or any of them
	Meaning string
}

// Names is the whole environment of a condition: what is fixed at the join, and
// the functions. The page docs/rules.md shows this table.
var Names = []Name{
	{"ext_attrs.NAME", "any", "an attribute that the join gave; `ext_attrs[\"NAME\"]` where NAME is no plain word"},
	{"priority_group", "text", "the group that the join named, `ordinary` when it named none"},
	{"class", "text", "the class that the join named; missing when it named none"},
	{"party_size", "number", "how many people; missing when the join did not say"},
	{"channel", "text", "how the join came: `kiosk`, `web`, `staff`, `api`"},
	{"business_id", "text", "who joins, as the business knows them; missing when the join did not say"},
	{"waiting", "number", "how many wait in the queue at the join"},
	{"now.hour", "number", "0 to 23, in the site's time zone as all of `now`"},
	{"now.minute", "number", "0 to 59"},
	{"now.weekday", "number", "1 is Monday, 7 is Sunday"},
	{"now.day", "number", "day of the month, 1 to 31"},
	{"now.month", "number", "1 to 12"},
	{"now.year", "number", "such as 2026"},
	{"now.date", "text", "such as `2026-02-14`; dates compare as texts do"},
	{"now.time", "text", "such as `08:05`; times compare as texts do"},
	{"missed_within(\"1h\")", "truth", "the holder missed a call in this queue less than so long ago"},
	{"joined_within(\"30m\")", "truth", "the holder joined this queue less than so long ago"},
	{"served_within(\"24h\")", "truth", "the holder was served in this queue less than so long ago"},
	{"lower(TEXT)", "text", "in small letters"},
	{"upper(TEXT)", "text", "in capital letters"},
	{"trim(TEXT)", "text", "without blanks at both ends"},
	{"len(TEXT)", "number", "how many characters"},
	{"abs(NUMBER)", "number", "without its sign"},
	{"floor(NUMBER)", "number", "rounded down"},
	{"ceil(NUMBER)", "number", "rounded up"},
	{"round(NUMBER)", "number", "rounded to the nearest, halves away from zero"},
	{"min(NUMBER, NUMBER)", "number", "the smaller"},
	{"max(NUMBER, NUMBER)", "number", "the larger"},
}

// Input is everything that the rules of a queue may look at.
type Input struct {
	Attrs    map[string]any // numbers, texts and truths; anything else is missing
	Group    string
	Class    string // "" = missing
	Party    int    // 0 = missing
	Channel  string
	Business string    // "" = missing
	Now      time.Time // in the site's zone
	Waiting  *int      // nil = missing
	History  History
}

// History is when something last happened to the holder in the queue; a zero
// time means never, or not known.
type History struct{ Missed, Joined, Served time.Time }

// The names of the environment of the machine that no condition can write.
const (
	nameMissed = "@missed"
	nameJoined = "@joined"
	nameServed = "@served"
)

// declared is the environment as a condition is checked against it: with the
// types that the operands have when they are there.
type declared struct {
	Attrs    map[string]any `expr:"ext_attrs"`
	Group    string         `expr:"priority_group"`
	Class    string         `expr:"class"`
	Party    int            `expr:"party_size"`
	Channel  string         `expr:"channel"`
	Business string         `expr:"business_id"`
	Waiting  int            `expr:"waiting"`
	Now      clock          `expr:"now"`
}

// environment is what the machine runs on: nil is missing.
type environment struct {
	Attrs    map[string]any `expr:"ext_attrs"`
	Group    any            `expr:"priority_group"`
	Class    any            `expr:"class"`
	Party    any            `expr:"party_size"`
	Channel  any            `expr:"channel"`
	Business any            `expr:"business_id"`
	Waiting  any            `expr:"waiting"`
	Now      clock          `expr:"now"`

	// How long ago, as a time.Duration.
	Missed any `expr:"@missed"`
	Joined any `expr:"@joined"`
	Served any `expr:"@served"`
}

// clock is the local time of a join.
type clock struct {
	Hour    int    `expr:"hour"`
	Minute  int    `expr:"minute"`
	Weekday int    `expr:"weekday"`
	Day     int    `expr:"day"`
	Month   int    `expr:"month"`
	Year    int    `expr:"year"`
	Date    string `expr:"date"`
	Time    string `expr:"time"`
}

func newEnvironment(in *Input) environment {
	return environment{
		Attrs: in.Attrs, Group: textOrMissing(in.Group), Class: textOrMissing(in.Class),
		Party: partyOrMissing(in.Party), Channel: textOrMissing(in.Channel), Business: textOrMissing(in.Business),
		Waiting: countOrMissing(in.Waiting), Now: newClock(in.Now),
		Missed: since(in.History.Missed, in.Now), Joined: since(in.History.Joined, in.Now),
		Served: since(in.History.Served, in.Now),
	}
}

func newClock(t time.Time) clock {
	year, month, day := t.Date()
	hour, minute, _ := t.Clock()
	weekday := int(t.Weekday())
	if weekday == 0 {
		weekday = 7
	}
	return clock{
		Hour: hour, Minute: minute, Weekday: weekday, Day: day, Month: int(month), Year: year,
		Date: fmt.Sprintf("%04d-%02d-%02d", year, month, day), Time: fmt.Sprintf("%02d:%02d", hour, minute),
	}
}

func textOrMissing(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func partyOrMissing(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func countOrMissing(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}

// since is how long before now t was, nil when t never was.
func since(t, now time.Time) any {
	if t.IsZero() {
		return nil
	}
	return now.Sub(t)
}
