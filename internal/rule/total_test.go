package rule_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/dengxu/dengxu/internal/rule"
)

// conditions and whether they hold of the input of TestConditions.
var conditions = map[string]bool{
	// Present operands.
	"ext_attrs.age == 70":                      true,
	"ext_attrs.age != 70":                      false,
	"ext_attrs.age > 69.5":                     true,
	"ext_attrs.age / 2 == 35":                  true,
	"ext_attrs.age % 60 == 10":                 true,
	"ext_attrs.int == 3":                       true,
	"ext_attrs.zero == -0.0":                   true,
	"65 <= ext_attrs.age < 75":                 true,
	"ext_attrs.age in 65..75":                  true,
	"ext_attrs.age not in 65..75":              false,
	"ext_attrs.age in [60, 70]":                true,
	"ext_attrs.age in [-70, 60]":               false,
	"ext_attrs.age not in [60, 61]":            true,
	"-ext_attrs.age == 0 - 70":                 true,
	"2 ** 3 == 8 and 2 ^ 3 == +8":              true,
	`ext_attrs.name startsWith "王"`:            true,
	`ext_attrs.name endsWith "王"`:              false,
	`ext_attrs.name contains "伟"`:              true,
	`ext_attrs.name not contains "伟"`:          false,
	`ext_attrs.name matches "^王.$"`:            true,
	`ext_attrs.name not matches "^李"`:          true,
	`ext_attrs.name + "先生" == "王伟先生"`:          true,
	"len(ext_attrs.name) == 2":                 true,
	`ext_attrs["会员"] == "gold"`:                true,
	`ext_attrs.会员 == "gold"`:                   true,
	`ext_attrs["two words"] == 2`:              true,
	`upper(priority_group) == lower("VIP")`:    false,
	`lower(priority_group) == "vip"`:           true,
	`trim(" a ") == "a"`:                       true,
	"max(ext_attrs.age, 80) == 80":             true,
	"min(1, 2) + abs(-3) + round(2.5) == 7":    true,
	"floor(1.9) == 1 && ceil(1.1) == 2":        true,
	`channel in ["web", "kiosk"]`:              true,
	"waiting > 10 && waiting < 13":             true,
	"waiting % 5 == 2":                         true,
	"ext_attrs.vip":                            true,
	"!ext_attrs.off":                           true,
	"ext_attrs.vip == true":                    true,
	"ext_attrs.vip ? party_size > 3 : false":   true,
	"if ext_attrs.off { false } else { true }": true,
	`"age" in ext_attrs`:                       true,
	`"b" > "a"`:                                true,
	"true || 1 / 0 > 3":                        true,

	// The time of the join, in the site's zone.
	`now.hour == 12 && now.minute == 5`:                     true,
	`now.weekday == 6 && now.weekday in 6..7`:               true,
	`now.date == "2026-02-14" && now.time >= "12:00"`:       true,
	`now.day == 14 && now.month == 2 && now.year == 2026`:   true,
	`served_within("2h") && !served_within("1h")`:           true,
	`served_within("1d")`:                                   true,
	`missed_within("30d") || joined_within("30d")`:          false,
	`!missed_within("30d")`:                                 true,
	`"1d" | served_within()`:                                true,
	`served_within("1h30m") and served_within("3600.001s")`: true,
	`served_within("90m") == true`:                          true,

	// Missing operands: no comparison holds, neither way.
	"ext_attrs.x == 1":             false,
	"ext_attrs.x != 1":             false,
	"ext_attrs.x < 1":              false,
	"ext_attrs.x >= 1":             false,
	"ext_attrs.x == ext_attrs.y":   false,
	"ext_attrs.x != ext_attrs.y":   false,
	"ext_attrs.null == 1":          false,
	"ext_attrs.x in [1, 2]":        false,
	"ext_attrs.x not in [1, 2]":    false,
	"ext_attrs.x in 1..2":          false,
	"ext_attrs.x not in 1..2":      false,
	"1 in 0..ext_attrs.x":          false,
	"1 not in 2..ext_attrs.x":      false,
	`ext_attrs.x contains "a"`:     false,
	`ext_attrs.x not contains "a"`: false,
	`ext_attrs.x matches "a"`:      false,
	`ext_attrs.x not matches "a"`:  false,
	`ext_attrs.x startsWith ""`:    false,
	"ext_attrs.x in ext_attrs":     false,
	"ext_attrs.x not in ext_attrs": false,
	`"x" in ext_attrs`:             false,
	`"null" in ext_attrs`:          false,
	`"x" not in ext_attrs`:         true,
	"1 < ext_attrs.x < 3":          false,
	"class == priority_group":      false,
	`business_id != "p1"`:          false,
	"ext_attrs.x":                  false,
	"ext_attrs.x ? true : false":   false,

	// … also through arithmetic and functions.
	"ext_attrs.x + 1 > 2":               false,
	"ext_attrs.x + 1 < 2":               false,
	"0 * ext_attrs.x == 0":              false,
	"-ext_attrs.x < 1":                  false,
	"+ext_attrs.x < 1":                  false,
	"ext_attrs.x - ext_attrs.x == 0":    false,
	"len(ext_attrs.x) == 0":             false,
	`lower(ext_attrs.x) == ""`:          false,
	"abs(ext_attrs.x) >= 0":             false,
	"max(ext_attrs.x, 1) == 1":          false,
	`ext_attrs.x + "a" == "a"`:          false,
	"(ext_attrs.x ? 1 : 2) == 2":        true,
	"(true ? ext_attrs.x : 2) == 2":     false,
	"ext_attrs.age / 0 > 0":             false,
	"ext_attrs.age / 0 < 0":             false,
	"ext_attrs.age % 0 >= 0":            false,
	"0 / 0 == 0 / 0":                    false,
	"10 ** 400 > 1":                     false,
	"(-1) ** 0.5 < 1":                   false,
	"1e308 * 10 > 1":                    false,
	"ext_attrs.nan == ext_attrs.nan":    false,
	`ext_attrs.full + "a" contains "a"`: false,
	`ext_attrs.full + "" contains "a"`:  true,
	`ext_attrs.long matches "a"`:        false,
	`ext_attrs.long not matches "b"`:    false,
	`lower(ext_attrs.long) == nil`:      true,
	`len(ext_attrs.long) == 1001`:       true,

	// Wrong types.
	`ext_attrs.name > 3`:               false,
	`ext_attrs.name <= 3`:              false,
	`ext_attrs.name == 3`:              false,
	`ext_attrs.name != 3`:              false,
	`ext_attrs.age == "70"`:            false,
	`ext_attrs.age contains "7"`:       false,
	"ext_attrs.vip > 0":                false,
	"ext_attrs.vip == 1":               false,
	"ext_attrs.vip + 1 == 2":           false,
	`ext_attrs.name in [1, 2]`:         false,
	`ext_attrs.name not in [1, 2]`:     false,
	`ext_attrs.name not in [1, "a"]`:   true,
	"ext_attrs.age in ext_attrs":       false,
	"ext_attrs.name":                   false,
	"ext_attrs.age":                    false,
	"ext_attrs.age && true":            false,
	"ext_attrs.age || ext_attrs.vip":   true,
	"ext_attrs.list == 1":              false,
	"ext_attrs.list == nil":            true,
	"ext_attrs.object == nil":          true,
	"ext_attrs.nan == nil":             true,
	`ext_attrs.age + ext_attrs.name`:   false,
	`ext_attrs.name - 1 == nil`:        true,
	"len(ext_attrs.age) == 2":          false,
	"round(ext_attrs.name) == nil":     true,
	"(ext_attrs.name ? true : 1) == 1": true,

	// The rest of the condition counts.
	"!(ext_attrs.x >= 70)":                  true,
	"not (ext_attrs.x in [1])":              true,
	`not (ext_attrs.x contains "a")`:        true,
	"!ext_attrs.x":                          true,
	"ext_attrs.x >= 70 || ext_attrs.vip":    true,
	"ext_attrs.x >= 70 && ext_attrs.vip":    false,
	"ext_attrs.x >= 70 == false":            true,
	"(ext_attrs.x >= 70) != true":           true,
	"(ext_attrs.x ?? 71) >= 70":             true,
	"(ext_attrs.age ?? 0) >= 70":            true,
	"(ext_attrs.off ?? true) == false":      true,
	"(ext_attrs.x + 1 ?? 5) == 5":           false, // ?? binds first: x + (1 ?? 5)
	"((ext_attrs.x + 1) ?? 5) == 5":         true,
	"ext_attrs?.x == nil":                   true,
	"ext_attrs.x > 1 ? false : true":        true,
	"(ext_attrs.x > 1) in [true]":           false,
	"party_size > 3 && !(class == channel)": true,

	// Presence.
	"ext_attrs.x == nil":         true,
	"nil == ext_attrs.x":         true,
	"ext_attrs.x != nil":         false,
	"ext_attrs.null == nil":      true,
	"ext_attrs.off != nil":       true,
	"ext_attrs.zero != nil":      true,
	"class == nil":               true,
	"business_id == nil":         true,
	"party_size != nil":          true,
	"ext_attrs.x + 1 == nil":     true,
	"1 / 0 == nil":               true,
	"waiting != nil":             true,
	"(ext_attrs.x > 3) == nil":   false,
	"not (ext_attrs.age == nil)": true,
}

// TestConditions is the meaning of conditions, above all of what is missing or
// of a wrong type.
func TestConditions(t *testing.T) {
	t.Parallel()
	in := rule.Input{
		Attrs: map[string]any{
			"age": 70.0, "name": "王伟", "vip": true, "off": false, "zero": 0.0, "null": nil,
			"list": []any{1.0}, "object": map[string]any{"a": 1.0}, "int": 3, "nan": math.NaN(),
			"long": strings.Repeat("a", rule.MaxMatched+1), "full": strings.Repeat("a", rule.MaxText),
			"会员": "gold", "two words": 2.0,
		},
		Group: "VIP", Party: 4, Channel: "web", Now: noon, Waiting: new(12),
		History: rule.History{Served: noon.Add(-time.Hour)},
	}
	for condition, want := range conditions {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			if got := matches(t, condition, in); got != want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestMissingParts: what a join did not say is missing, not empty.
func TestMissingParts(t *testing.T) {
	t.Parallel()
	for _, condition := range []string{
		"party_size == nil", "class == nil", "business_id == nil",
		"!(party_size < 3)", "!(party_size >= 3)", `!(class == "")`, `!(class != "a")`, "waiting == nil",
		`!joined_within("30d")`,
	} {
		if !matches(t, condition, rule.Input{Now: noon}) {
			t.Errorf("%s does not hold of a join that says nothing", condition)
		}
	}
}
