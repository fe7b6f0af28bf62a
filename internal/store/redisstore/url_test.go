package redisstore

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestURLs(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]address{
		"redis://h":                     {kind: "redis", hosts: []string{"h:6379"}},
		"redis://h:1/2":                 {kind: "redis", hosts: []string{"h:1"}, db: 2},
		"redis://[::1]":                 {kind: "redis", hosts: []string{"[::1]:6379"}},
		"redis://[::1]:7/":              {kind: "redis", hosts: []string{"[::1]:7"}},
		"rediss://u:p%40ss@h:1":         {kind: "redis", secure: true, hosts: []string{"h:1"}, user: "u", password: "p@ss"},
		"redis://:secret@h?prefix=shop": {kind: "redis", hosts: []string{"h:6379"}, password: "secret", prefix: "shop"},
		"redis+cluster://a:1,b:2,c:3":   {kind: "redis+cluster", hosts: []string{"a:1", "b:2", "c:3"}},
		"rediss+cluster://a,b?partitions=8": {
			kind: "redis+cluster", secure: true, hosts: []string{"a:6379", "b:6379"}, partitions: 8,
		},
		"redis+sentinel://a,b:7/mymaster":       {kind: "redis+sentinel", hosts: []string{"a:26379", "b:7"}, master: "mymaster"},
		"redis+sentinel://:p@a:1/m/3?prefix=x:": {kind: "redis+sentinel", hosts: []string{"a:1"}, password: "p", master: "m", db: 3, prefix: "x:"},
	} {
		got, err := parse(raw)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(address{})); err != nil || diff != "" {
			t.Errorf("%s: %v %s", raw, err, diff)
		}
	}
}

func TestURLsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	for raw, why := range map[string]string{
		"http://h":                          "scheme",
		"redis:hunter2":                     "begins with",
		"redis://":                          "not a host",
		"redis://h:0":                       "not a host",
		"redis://h:p":                       "not a host",
		"redis://a,b":                       "several hosts",
		"redis://h/x":                       "number of a database",
		"redis://h/1/2":                     "number of a database",
		"redis+cluster://a,b/1":             "no databases",
		"redis+sentinel://a,b":              "which master",
		"redis://:hunter2%zz@h":             "percent-encoded",
		"redis://:hunter2@h?prefix={a}":     "prefix",
		"redis://:hunter2@h?partitions=257": "partitions",
		"redis://:hunter2@h?replicas=1":     "unknown parameter replicas",
	} {
		_, err := ParseURL(raw)
		if err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v, want %q", raw, err, why)
		}
	}
	if got := Shown("redis://me:hunter2@h:1/0?prefix=x"); got != "redis://me:…@h:1/0?prefix=x" {
		t.Errorf("shown as %s", got)
	}
}
