package gbdt

import (
	"fmt"
	"math"
	"testing"
)

func TestWhatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	good := Rows{Columns: [][]float64{{1, 2}}, Target: []float64{1, 2}}
	for _, row := range []struct {
		rows Rows
		p    Params
		want string
	}{
		{Rows{}, Params{Quantile: 0.5}, "there are no rows"},
		{Rows{Target: []float64{1}}, Params{Quantile: 0.5}, "0 features: from 1 to 1024"},
		{Rows{Target: []float64{1}, Columns: [][]float64{{1, 2}}}, Params{Quantile: 0.5}, "2 values of feature 0 for 1 rows"},
		{Rows{Target: []float64{math.NaN()}, Columns: [][]float64{{1}}}, Params{Quantile: 0.5}, "the target of row 0 is not a number"},
		{Rows{Target: []float64{1}, Columns: [][]float64{{1}}, Weight: []float64{0}}, Params{Quantile: 0.5}, "weight 0 of row 0 is not above 0"},
		{Rows{Target: []float64{1}, Columns: [][]float64{{1}}, Weight: []float64{1, 2}}, Params{Quantile: 0.5}, "2 weights for 1 rows"},
		{Rows{Target: []float64{1}, Columns: [][]float64{{1}}, Start: []float64{1, 2}}, Params{Quantile: 0.5}, "2 starts for 1 rows"},
		{good, Params{}, "quantile 0 does not lie between 0 and 1"},
		{good, Params{Quantile: math.NaN()}, "quantile NaN does not lie between 0 and 1"},
		{good, Params{Quantile: 0.5, Trees: -1}, "-1 trees: from 1 to 10000"},
		{good, Params{Quantile: 0.5, Leaves: 1}, "1 leaves: from 2 to 1024"},
		{good, Params{Quantile: 0.5, Rate: 2}, "rate 2 does not lie above 0 and up to 1"},
		{good, Params{Quantile: 0.5, Bins: 256}, "256 bins: from 2 to 255"},
		{good, Params{Quantile: 0.5, MinWeight: -1}, "least weight -1 is negative"},
		{good, Params{Quantile: 0.5, Sample: 1.5}, "sample 1.5 does not lie above 0 and up to 1"},
	} {
		if _, err := Train(row.rows, row.p); fmt.Sprint(err) != row.want {
			t.Errorf("%v, want %s", err, row.want)
		}
	}
}
