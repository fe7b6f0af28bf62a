package sim

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/dengxu/dengxu"
)

// draw draws one duration in ms.
type draw func(*rand.Rand) int64

// maxSeconds is the longest mean, and the longest value of a column: a slip of
// the unit is more likely than four months.
const maxSeconds = 1e7

// name is the law that is meant.
func (l *Law) name() string {
	if l.CSV != "" {
		return cmp.Or(l.Law, fromColumn)
	}
	return cmp.Or(l.Law, Exponential)
}

func (l *Law) check(field string) error {
	name := l.name()
	switch name {
	case Exponential, Constant, Lognormal:
	case fromColumn:
		if l.MeanSeconds != 0 || l.CV != 0 {
			return wrong(field, "a column has its own mean and spread")
		}
		return l.Column.check(field)
	default:
		return wrong(field+".law", "%q is not %s, %s or %s", l.Law, Exponential, Lognormal, Constant)
	}
	switch {
	case l.Column.named():
		return wrong(field, "give a law or a column")
	case !(l.MeanSeconds > 0 && l.MeanSeconds <= maxSeconds || name == Constant && l.MeanSeconds == 0):
		return wrong(field+".mean_seconds", "must be above 0 and at most %.0f", maxSeconds)
	case name == Lognormal && !(l.CV > 0 && l.CV <= 100), name != Lognormal && l.CV != 0:
		return wrong(field+".cv", "stands with lognormal, above 0 and at most 100")
	}
	return nil
}

// draw returns the law's draw. Columns are read from folder.
func (l *Law) draw(folder string) (draw, error) {
	mean := l.MeanSeconds * 1000
	switch l.name() {
	case Constant:
		return func(*rand.Rand) int64 { return int64(math.Round(mean)) }, nil
	case Lognormal:
		// Of a lognormal variable with parameters m, s the mean is e^(m+s²/2)
		// and 1 + cv² is e^(s²).
		s2 := math.Log1p(l.CV * l.CV)
		m, s := math.Log(mean)-s2/2, math.Sqrt(s2)
		return func(r *rand.Rand) int64 { return int64(math.Round(math.Exp(m + s*r.NormFloat64()))) }, nil
	case fromColumn:
		values, err := l.Column.read(folder)
		if err != nil {
			return nil, err
		}
		return func(r *rand.Rand) int64 { return values[r.IntN(len(values))] }, nil
	default:
		return func(r *rand.Rand) int64 { return int64(math.Round(mean * r.ExpFloat64())) }, nil
	}
}

func (a *Arrivals) check(field string) error {
	ways := 0
	for _, given := range []bool{a.PerHour != 0, len(a.ByHour) > 0, a.Column.named()} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return wrong(field, "give per_hour, by_hour or a column")
	}
	if a.Column.named() {
		return a.Column.check(field)
	}
	rate := func(f string, v float64) error {
		if !(v >= 0 && v <= 3_600_000) {
			return wrong(f, "people an hour are from 0 to 3600000")
		}
		return nil
	}
	for span, v := range a.ByHour {
		if _, _, err := dengxu.ParseHours(span); err != nil {
			return wrong(field+".by_hour", "%q is not a span such as 08:00-12:00", span)
		}
		if err := rate(field+".by_hour", v); err != nil {
			return err
		}
	}
	return rate(field+".per_hour", a.PerHour)
}

func (c *Column) named() bool { return c.CSV != "" || c.Column != "" || len(c.Where) > 0 }

func (c *Column) check(field string) error {
	if c.CSV == "" || c.Column == "" {
		return wrong(field, "a column has a csv and a column")
	}
	return nil
}

// read reads the column as ms, in the order of the file.
func (c *Column) read(folder string) (values []int64, err error) {
	path := inFolder(folder, c.CSV)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	in := csv.NewReader(file)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: read the header: %w", path, err)
	}
	header = slices.Clone(header)
	at := slices.Index(header, c.Column)
	if at < 0 {
		return nil, fmt.Errorf("%s: there is no column %s", path, c.Column)
	}
	for name := range c.Where {
		if !slices.Contains(header, name) {
			return nil, fmt.Errorf("%s: there is no column %s", path, name)
		}
	}
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if !c.wants(header, row) {
			continue
		}
		v, err := strconv.ParseFloat(row[at], 64)
		if err != nil || !(v >= 0 && v <= maxSeconds) {
			line, _ := in.FieldPos(at)
			return nil, fmt.Errorf("%s: line %d: %s %q is not from 0 to %.0f seconds", path, line, c.Column, row[at], maxSeconds)
		}
		values = append(values, int64(math.Round(v*1000)))
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("%s: there are no rows like that", path)
	}
	return values, nil
}

func (c *Column) wants(header, row []string) bool {
	for i, name := range header {
		if want, ok := c.Where[name]; ok && row[i] != want {
			return false
		}
	}
	return true
}

func inFolder(folder, path string) string {
	if folder == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(folder, path)
}
