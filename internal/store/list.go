package store

import (
	"slices"
	"strings"
)

// Match reports whether a live token belongs on the pages of a, apart from
// where they begin. Every store lists by it, so that they agree.
func (a *ListAsk) Match(t *Token) bool {
	switch {
	case a.Site != "" && t.Site != a.Site,
		a.Queue != "" && t.Queue != a.Queue,
		a.Gen != nil && t.Gen != *a.Gen,
		len(a.States) > 0 && !slices.Contains(a.States, t.State),
		a.Counter != "" && t.Counter != a.Counter,
		a.Label != "" && t.Label() != a.Label:
		return false
	}
	if a.Text == "" {
		return true
	}
	text := strings.ToLower(a.Text)
	for _, field := range []string{t.Name, t.Phone, t.Business, t.Label()} {
		if strings.Contains(strings.ToLower(field), text) {
			return true
		}
	}
	return false
}

// MaxExamined is how many tokens one page may look at. It bounds what a search
// that finds nobody costs at once.
const MaxExamined = 10_000
