package sim

// Try is one try of a search for counters.
type Try struct {
	Counters int     `json:"counters"`
	Value    float64 `json:"value"`
	Kept     bool    `json:"kept"` // whether the aim is reached
}
