package dengxu

import "regexp"

// Ids name things for machines. Sites, queues and counters are named by their
// owner; a token id is made by the engine and is its holder's credential.
type (
	// SiteID names a site: the unit of atomicity, with one time zone and one
	// business day.
	SiteID string
	// QueueID names a queue. It is unique over all sites.
	QueueID string
	// CounterID names a counter. It is unique over all sites.
	CounterID string
	// TokenID names one stay in a queue. Who has it may act as the holder, so
	// it never stands on boards and is masked in logs.
	TokenID string
	// KeyID names an API key. It is not the secret.
	KeyID string
)

// IDPattern is the shape of every id given by people, for schemas and docs.
const IDPattern = `^[A-Za-z0-9_.-]{1,64}$`

var idPattern = regexp.MustCompile(IDPattern)

// CheckID reports whether id may name a site, queue, counter or key. It
// returns an Invalid error that names field; `token` is reserved because it is
// a path element of the API, `.` and `..` because paths with them are rewritten
// on their way.
func CheckID(field, id string) error {
	if id == "token" || id == "." || id == ".." {
		return Fieldf(Invalid, field, "id %q is reserved", id)
	}
	if !idPattern.MatchString(id) {
		return Fieldf(Invalid, field, "id %q must match %s", id, IDPattern)
	}
	return nil
}

// Mask shortens a token id for logs: enough to tell two apart, too little to
// act with.
func (id TokenID) Mask() string {
	if len(id) <= 8 {
		return "…"
	}
	return string(id[:6]) + "…"
}
