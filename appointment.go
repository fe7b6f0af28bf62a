package dengxu

import "cmp"

// Appointments says how people with an appointment stand in a queue. Their
// place in line is the booked time less the head start; from EarlySeconds
// before the booked time they can be called.
type Appointments struct {
	EarlySeconds     *float64 `json:"early_seconds,omitempty" minimum:"0" doc:"callable from so long before the booked time; default 1800"`
	LateSeconds      *float64 `json:"late_seconds,omitempty" minimum:"0" doc:"who checks in more than so long after the booked time is late; default 600"`
	HeadStartSeconds *float64 `json:"head_start_seconds,omitempty" minimum:"0" maximum:"2592000" doc:"place = booked time less this; default 1800"`
	Late             string   `json:"late,omitempty" enum:"tail,keep" doc:"where the late stand: as if joining at their check-in, or still by the booked time; default tail"`
}

// withDefaults returns a copy in which every absent setting has its default;
// nil, no appointments, stays nil.
func (a *Appointments) withDefaults() *Appointments {
	if a == nil {
		return nil
	}
	return &Appointments{
		EarlySeconds:     orNew(a.EarlySeconds, 1800),
		LateSeconds:      orNew(a.LateSeconds, 600),
		HeadStartSeconds: orNew(a.HeadStartSeconds, 1800),
		Late:             cmp.Or(a.Late, PlaceTail),
	}
}
