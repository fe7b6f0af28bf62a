package ctl

import (
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table lines up what is written to it: cells end at a tab, lines at a newline.
// It counts columns of a terminal, in which a Chinese character takes two;
// text/tabwriter counts characters.
type table struct{ text strings.Builder }

func (t *table) Write(b []byte) (int, error) { return t.text.Write(b) }

// gap is what stands between two columns.
const gap = 2

// writeTo writes the lines with every column as wide as its widest cell. The
// last cell of a line has no column.
func (t *table) writeTo(w io.Writer) error {
	var widths []int
	lines := strings.SplitAfter(t.text.String(), "\n")
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		for i, cell := range cells[:len(cells)-1] {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(cell))
		}
	}
	var out strings.Builder
	for _, line := range lines {
		cells := strings.Split(line, "\t")
		last := len(cells) - 1
		for i, cell := range cells[:last] {
			out.WriteString(cell)
			if i < last-1 || strings.TrimSpace(cells[last]) != "" { // nothing invisible at the end
				out.WriteString(strings.Repeat(" ", widths[i]-columns(cell)+gap))
			}
		}
		out.WriteString(cells[last])
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// columns is how many columns a terminal gives to s.
func columns(s string) (n int) {
	for _, r := range s {
		switch kind := width.LookupRune(r).Kind(); {
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // stands on the one before
		case kind == width.EastAsianWide || kind == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}
