package ctl

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
	"github.com/dengxu/dengxu/internal/strictyaml"
)

// RuleCmd is `ctl rule`.
type RuleCmd struct {
	Test    ruleTest    `cmd:"" help:"Hold a table of example holders against a queue's rules; nobody joins."`
	Reapply ruleReapply `cmd:"" help:"Judge those who wait by the present rules; needs the right move."`
}

type (
	ruleTest struct {
		Queue dengxu.QueueID `arg:"" help:"Whose rules."`
		File  string         `short:"f" required:"" type:"path" placeholder:"FILE" help:"Holders, as CSV (name ends in .csv; columns are fields, others attributes), else as YAML: a list, or holders and queue_rules, with attributes under ext_attrs; - reads standard input."`
	}
	ruleReapply struct {
		Queue dengxu.QueueID `arg:"" help:"Whose rules."`
	}
)

// Run judges the table.
func (c *ruleTest) Run(ctx context.Context, e *Env) error {
	text, err := e.readFile(c.File)
	if err != nil {
		return err
	}
	var t dengxu.RulesTest
	if strings.EqualFold(filepath.Ext(c.File), ".csv") {
		t.Holders, err = readHolders(text)
	} else {
		t, err = readRulesTest(text)
	}
	if err != nil {
		return fmt.Errorf("%s:%w", c.File, err)
	}
	tested, err := e.Client.TestRules(ctx, c.Queue, t)
	if err != nil {
		return err
	}
	for _, w := range tested.Warnings {
		fmt.Fprintln(e.Err, "warning:", w)
	}
	return e.show(tested, func(w io.Writer) {
		fmt.Fprintln(w, "HOLDER\tMATCHED\tFACTOR\tCLASS\tHEAD START\tREFUSED")
		for i, v := range tested.Items {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", holderWords(t.Holders[i]), dash(strings.Join(v.Matched, ", ")),
				factorWords(v), dash(v.Class), time.Duration(v.HeadStartSeconds*float64(time.Second)), refusedWords(v.Reject))
		}
	})
}

// Run judges those who wait.
func (c *ruleReapply) Run(ctx context.Context, e *Env) error {
	done, err := e.Client.ReapplyRules(ctx, c.Queue)
	if err != nil {
		return err
	}
	return e.show(done, func(w io.Writer) {
		fmt.Fprintf(w, "%d of %d in line changed\n", done.Changed, done.Checked)
	})
}

func factorWords(v dengxu.RuleVerdict) string {
	s := strconv.FormatFloat(v.Factor, 'f', -1, 64)
	if v.Clipped {
		s += " (clipped)"
	}
	return s
}

func refusedWords(r *dengxu.RuleRefusal) string {
	if r == nil {
		return "–"
	}
	s := r.Reason
	if r.RetryAfterSeconds > 0 {
		s += " for " + time.Duration(r.RetryAfterSeconds*float64(time.Second)).Round(time.Second).String()
	}
	return s
}

// holderWords is a holder in one cell: what is said of it, without quotes.
func holderWords(h dengxu.RuleHolder) string {
	m, err := ordered(h)
	if err != nil {
		return err.Error()
	}
	var words []string
	for _, item := range m {
		if item.Key == "ext_attrs" {
			words = append(words, strings.Trim(strings.ReplaceAll(string(h.ExtAttrs), `"`, ""), "{}"))
			continue
		}
		words = append(words, fmt.Sprintf("%v:%v", item.Key, item.Value))
	}
	return dash(strings.Join(words, ","))
}

// readRulesTest reads a YAML list of holders, or a mapping with holders and
// queue_rules. Errors are *strictyaml.Error.
func readRulesTest(text []byte) (t dengxu.RulesTest, err error) {
	n, err := strictyaml.Parse(text)
	if err != nil {
		return t, err
	}
	if _, list := n.Value().([]any); list {
		return t, n.Decode(&t.Holders)
	}
	return t, n.Decode(&t)
}

// readHolders reads a CSV table. A column is a field of a holder or, when it is
// none, an attribute; an empty cell says nothing. Numbers, true and false are
// read as such in attributes, anything else as a text.
func readHolders(text []byte) ([]dengxu.RuleHolder, error) {
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))).ReadAll()
	if err != nil {
		return nil, &strictyaml.Error{Line: 1, Column: 1, Message: err.Error()}
	}
	if len(rows) < 2 {
		return nil, &strictyaml.Error{Line: 1, Column: 1, Message: "a table has a line of names and at least one holder"}
	}
	holders := make([]dengxu.RuleHolder, 0, len(rows)-1)
	for i, row := range rows[1:] {
		h, err := readHolder(rows[0], row)
		if err != nil {
			return nil, &strictyaml.Error{Line: i + 2, Column: 1, Message: err.Error()}
		}
		holders = append(holders, h)
	}
	return holders, nil
}

func readHolder(names, row []string) (h dengxu.RuleHolder, err error) {
	fields, attrs := make(map[string]any), make(map[string]any)
	for i, cell := range row {
		cell = strings.TrimSpace(cell)
		switch name := strings.TrimSpace(names[i]); {
		case cell == "":
		case holderFields[name] == reflect.String:
			fields[name] = cell
		case holderFields[name] != reflect.Invalid:
			fields[name] = json.Number(cell)
		default:
			attrs[name] = cellValue(cell)
		}
	}
	if len(attrs) > 0 {
		fields["ext_attrs"] = attrs
	}
	b, err := json.Marshal(fields)
	if err != nil {
		return h, errors.New("a field that must be a number is none")
	}
	if err := json.Unmarshal(b, &h); err != nil {
		return h, dengxu.JSONError(err)
	}
	return h, nil
}

// cellValue reads a cell of an attribute.
func cellValue(cell string) any {
	switch {
	case cell == "true", cell == "false":
		return cell == "true"
	case json.Valid([]byte(cell)) && strings.Trim(cell, "-+.0123456789eE") == "":
		return json.Number(cell)
	default:
		return cell
	}
}

// holderFields are the fields of a holder that a cell can say, with what they
// are written as.
var holderFields = func() map[string]reflect.Kind {
	kinds := make(map[string]reflect.Kind)
	for f := range reflect.TypeFor[dengxu.RuleHolder]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type.Kind()
		switch {
		case name == "ext_attrs":
			continue
		case kind == reflect.Pointer:
			kind = f.Type.Elem().Kind()
		case kind == reflect.Struct: // a time
			kind = reflect.String
		}
		kinds[name] = kind
	}
	return kinds
}()
