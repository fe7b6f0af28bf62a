package announce

import (
	"math"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/estimate"
)

// Answer is a forecast with what people are told of it. It may be the answer to
// many, and is not changed.
type Answer struct {
	estimate.Forecast
	Said dengxu.Estimate
}

// answer puts a forecast as of a moment into words.
func answer(f estimate.Forecast, now int64) *Answer {
	a := &Answer{Forecast: f}
	if !f.Known {
		a.Said = dengxu.Estimate{Method: estimate.MethodNone, Reason: f.Reason}
		return a
	}
	whole := func(seconds float64) *int { return new(int(math.Round(seconds))) }
	a.Said = dengxu.Estimate{
		Known: true, Method: f.Method,
		LowSeconds: whole(f.Low), RecommendedSeconds: whole(f.Recommended), HighSeconds: whole(f.High),
		Position: math.Round(100*f.Position) / 100, AsOf: time.UnixMilli(now).UTC(), Calibrated: f.Calibrated, Why: f.Why,
		Text: map[string]string{"en": f.Text(estimate.English), "zh-CN": f.Text(estimate.Chinese)},
	}
	return a
}
