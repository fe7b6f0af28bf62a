// Package recording reads days of a real waiting line: who joined, who gave up,
// who was served when and by whom. It owns the format, and refuses to know what
// is done with it.
package recording

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// Row is one person of a recording. Times are seconds since the day's midnight
// and may pass 86400.
type Row struct {
	Type     string // what for
	Priority int
	Queued   bool // had to wait; without such a column: waited at all
	Served   bool // else gone before service
	Join     int
	Leave    int // when the line was left, by service or by giving up
	Start    int // of the service; Served only
	End      int
	Server   string // who served; "" = not recorded
}

// columns of a recording, by name; others are ignored.
var columns = []string{"date", "type", "priority", "outcome", "join_s", "leave_queue_s", "start_s", "end_s", "server"}

// queuedColumn is one that a recording need not have.
const queuedColumn = "queued"

// otherPool is the type of rows that other servers serve: left out.
const otherPool = "IN"

// Day is the rows of one date, in the order of the file.
type Day struct {
	Date string // as the file writes it
	Rows []Row
}

// Read reads the rows of one date, in the order of the file. An error names
// the line.
func Read(r io.Reader, date string) ([]Row, error) {
	days, err := read(r, func(d string) bool { return d == date })
	if err != nil {
		return nil, err
	}
	if len(days) == 0 {
		return nil, fmt.Errorf("there are no rows of %s", date)
	}
	return days[0].Rows, nil
}

// ReadAll reads every date, in the order in which the file begins with them. An
// error names the line.
func ReadAll(r io.Reader) ([]Day, error) {
	days, err := read(r, func(string) bool { return true })
	if err == nil && len(days) == 0 {
		err = errors.New("there are no rows")
	}
	return days, err
}

// read reads the days that are wanted.
func read(r io.Reader, wanted func(date string) bool) ([]Day, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	at := make(map[string]int, len(columns))
	for _, name := range columns {
		if at[name] = slices.Index(header, name); at[name] < 0 {
			return nil, fmt.Errorf("line 1: there is no column %s", name)
		}
	}
	at[queuedColumn] = slices.Index(header, queuedColumn)
	var days []Day
	byDate := make(map[string]int)
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return days, nil
		}
		if err != nil {
			return nil, err // says the line itself
		}
		field := func(name string) string {
			if at[name] < 0 {
				return ""
			}
			return record[at[name]]
		}
		if !wanted(field("date")) || field("type") == otherPool {
			continue
		}
		row, err := parse(field)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		i, known := byDate[field("date")]
		if !known {
			i = len(days)
			days = append(days, Day{Date: field("date")})
			byDate[days[i].Date] = i
		}
		days[i].Rows = append(days[i].Rows, row)
	}
}

func parse(field func(string) string) (Row, error) {
	row := Row{Type: field("type"), Server: field("server")}
	switch outcome := field("outcome"); outcome {
	case "served":
		row.Served = true
	case "abandoned":
	default:
		return row, fmt.Errorf("outcome %q is neither served nor abandoned", outcome)
	}
	numbers := []struct {
		name string
		into *int
	}{{"priority", &row.Priority}, {"join_s", &row.Join}, {"leave_queue_s", &row.Leave}, {"start_s", &row.Start}, {"end_s", &row.End}}
	if !row.Served {
		numbers = numbers[:3]
	}
	for _, n := range numbers {
		v, err := strconv.Atoi(field(n.name))
		if err != nil {
			return row, fmt.Errorf("%s %q is not a whole number", n.name, field(n.name))
		}
		*n.into = v
	}
	switch {
	case row.Priority < 0 || row.Priority > 2:
		return row, fmt.Errorf("priority %d is not 0, 1 or 2", row.Priority)
	case row.Leave < row.Join, row.Served && row.Start < row.Join, row.Served && row.End < row.Start:
		return row, fmt.Errorf("times run backwards")
	}
	switch queued := field(queuedColumn); queued {
	case "":
		row.Queued = row.Leave > row.Join
	case "0", "1":
		row.Queued = queued == "1"
	default:
		return row, fmt.Errorf("queued %q is neither 0 nor 1", queued)
	}
	return row, nil
}
