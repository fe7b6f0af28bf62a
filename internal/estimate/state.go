package estimate

// State is the line at a moment as one token sees it.
type State struct {
	Now     int64
	Hour    float64 // of the site's day, from 0 to 24
	Weekday int     // from 0, Sunday
	Class   string
	Group   string
	// Position is the services until and with one's own start: Place.Services.
	Position float64
	// Length is how many others stand in line and compete with this one.
	Length int
	// Oldest is how long the one has waited who waits longest, in seconds.
	Oldest float64
	// Counters are those that serve this token and are open. One that is paused
	// or closed is not among them.
	Counters []Counter
	// Prior is the expected service in seconds by the settings; 0 for none.
	Prior float64
	// Closed is how long nobody will serve meanwhile, in seconds: breaks and
	// hours before opening. It is added to what is said.
	Closed float64
	// Covariates are what the site tells beside, by name: weather, holiday,
	// seated. It is not changed afterwards.
	Covariates map[string]float64
	// Unknown, when it is set, says why nothing can be said: the reasons of
	// dengxu.Estimate.
	Unknown string
}

// Counter is an open counter.
type Counter struct {
	ID   string // "" when it is not known which
	Busy bool
	// Since is when the service of a busy counter began.
	Since int64
	// Idle is a counter that could serve at once.
	Idle bool
	// Share is the part of its time that this queue has; 0 is all of it.
	Share float64
}
