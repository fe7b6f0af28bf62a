package estimate

import (
	"fmt"
	"math"
)

// Minutes rounds seconds to what people read: whole minutes up to 5, steps of 5
// up to 30, and of 10 above. Anything above 0 is at least a minute.
func Minutes(seconds float64) int { return rounded(seconds, math.Round) }

// MinutesUp is Minutes, rounded up: for what is promised.
func MinutesUp(seconds float64) int { return rounded(seconds, math.Ceil) }

func rounded(seconds float64, round func(float64) float64) int {
	if seconds <= 0 {
		return 0
	}
	minutes := seconds / 60
	step := 10.0
	switch {
	case minutes < 5:
		step = 1
	case minutes < 30:
		step = 5
	}
	return max(1, int(step*round(minutes/step)))
}

// The languages of Text.
const (
	English = "en"
	Chinese = "zh"
)

// Text says a forecast in a sentence, in English or Chinese; "" when it is
// unknown.
func (f *Forecast) Text(language string) string {
	if !f.Known {
		return ""
	}
	about, most := max(Minutes(f.Recommended), Minutes(min(1, f.High))), MinutesUp(f.High)
	chinese := language == Chinese
	switch {
	case most == 0 && chinese:
		return "马上"
	case most == 0:
		return "now"
	case about >= most && chinese:
		return "约" + duration(most, true)
	case about >= most:
		return "about " + duration(most, false)
	case chinese:
		return fmt.Sprintf("约%s，十人中九人不超过%s", duration(about, true), duration(most, true))
	}
	return fmt.Sprintf("about %s, at most %s for 9 of 10 people", duration(about, false), duration(most, false))
}

// duration says minutes, and hours from two on.
func duration(minutes int, chinese bool) string {
	const hour = 60
	hours, rest := minutes/hour, minutes%hour
	switch {
	case minutes < 2*hour && chinese:
		return fmt.Sprintf("%d分钟", minutes)
	case minutes < 2*hour:
		return fmt.Sprintf("%d min", minutes)
	case rest == 0 && chinese:
		return fmt.Sprintf("%d小时", hours)
	case rest == 0:
		return fmt.Sprintf("%d h", hours)
	case chinese:
		return fmt.Sprintf("%d小时%d分钟", hours, rest)
	}
	return fmt.Sprintf("%d h %d min", hours, rest)
}
