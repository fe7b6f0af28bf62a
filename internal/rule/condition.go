package rule

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// cost is what the conditions of a queue amount to together.
type cost struct{ nodes, steps, windows int }

// condition is a compiled condition.
type condition struct {
	program *vm.Program
	windows []window
	waiting bool
	clock   bool
	spent   cost // with what was spent before
}

// compileCondition turns a source into a program that has an answer for every
// input. spent is what the other conditions of the queue cost. The error names
// line and column. It never panics.
func compileCondition(source string, spent cost) (c condition, err error) {
	defer func() {
		// The grammar is another project's: what it does not foresee is a
		// condition that cannot be read, and not the end of the process.
		if r := recover(); r != nil {
			c, err = condition{}, fmt.Errorf("this cannot be read as a condition (%v)", r)
		}
	}()
	if err := guard(source); err != nil {
		return condition{}, err
	}
	tree, err := parser.ParseWithConfig(source, config(declared{}, checkedFunctions))
	if err != nil {
		return condition{}, placed(source, err)
	}
	m := maker{spent: spent}
	node, err := m.compile(tree.Node)
	if err != nil {
		return condition{}, placed(source, err)
	}
	if err := checkTypes(tree); err != nil {
		return condition{}, placed(source, err)
	}
	tree.Node = node
	run := config(environment{}, machineFunctions)
	if _, err := checker.Check(tree, run); err != nil {
		return condition{}, placed(source, err)
	}
	program, err := compiler.Compile(tree, run)
	if err != nil {
		return condition{}, placed(source, err)
	}
	return condition{program: program, windows: m.windows, waiting: m.waiting, clock: m.clock, spent: m.spent}, nil
}

// checkTypes holds the condition as it was written against the types that its
// operands have when they are there.
func checkTypes(tree *parser.Tree) error {
	check := config(declared{}, checkedFunctions)
	check.Expect, check.ExpectAny = reflect.Bool, true
	_, err := checker.Check(tree, check)
	if located, ok := errors.AsType[*file.Error](err); ok {
		return located
	}
	if err != nil {
		return errors.New("a condition is true or false: compare with ==, <, > or the like")
	}
	return nil
}

// guard refuses, before anything reads it, a source that is too large or nested
// too deeply. Brackets within texts do not nest; those within comments are
// counted, which refuses no condition that a person would write.
func guard(source string) error {
	if len(source) > MaxSource {
		return fmt.Errorf("a condition has at most %d bytes, this one %d", MaxSource, len(source))
	}
	if !utf8.ValidString(source) {
		return errors.New("a condition is valid UTF-8")
	}
	depth, at, quote, escaped := 0, 0, rune(0), false
	for _, r := range source {
		switch {
		case escaped:
			escaped = false
		case quote != 0:
			escaped = r == '\\' && quote != '`'
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' || r == '`':
			quote = r
		case r == '(' || r == '[' || r == '{':
			depth++
		case r == ')' || r == ']' || r == '}':
			depth--
		}
		if depth > MaxNesting {
			return placed(source, faultAt(file.Location{From: at}, "brackets are nested deeper than %d", MaxNesting))
		}
		at++
	}
	return nil
}

// config is the settings of the grammar for an environment. None of the
// grammar's own functions is there: they loop, allocate, or fail on what a
// holder may send.
func config(env any, functions map[string]*builtin.Function) *conf.Config {
	c := &conf.Config{
		Strict: true, ShortCircuit: true, MaxNodes: MaxNodes,
		Functions: functions, Builtins: conf.FunctionsTable{}, Disabled: disabled,
	}
	c.WithEnv(env)
	return c
}

// disabled are all functions of the grammar.
var disabled = func() map[string]bool {
	all := make(map[string]bool, len(builtin.Names))
	for _, name := range builtin.Names {
		all[name] = true
	}
	return all
}()

// faultAt is a fault at a place in the source.
func faultAt(at file.Location, format string, args ...any) error {
	return &file.Error{Location: at, Message: fmt.Sprintf(format, args...)}
}

func fault(n ast.Node, format string, args ...any) error {
	return faultAt(n.Location(), format, args...)
}

// placed puts line and column, counted in characters from 1, before what is
// wrong there.
func placed(source string, err error) error {
	located, ok := errors.AsType[*file.Error](err)
	if !ok {
		return err
	}
	line, column, n := 1, 1, 0
	for _, r := range source {
		if n == located.From {
			break
		}
		n++
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return fmt.Errorf("line %d, column %d: %s", line, column, located.Message)
}
