package rule

import (
	"regexp"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
)

// comparison compiles a comparison, or with the prefix negated its opposite.
func (m *maker) comparison(n *ast.BinaryNode, prefix string) (ast.Node, error) {
	switch n.Operator {
	case "==":
		if made, err := m.presence(n, prefix == negated); made != nil || err != nil {
			return made, err
		}
	case "in":
		return m.in(n, prefix)
	case "matches":
		return m.matches(n, prefix)
	}
	made, err := m.values(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	return call(n, prefix+n.Operator, made...), nil
}

// presence compiles x == nil and nil == x; nil for any other comparison.
func (m *maker) presence(n *ast.BinaryNode, given bool) (ast.Node, error) {
	of := n.Left
	if _, ok := of.(*ast.NilNode); ok {
		of = n.Right
	} else if _, ok := n.Right.(*ast.NilNode); !ok {
		return nil, nil
	}
	made, err := m.value(of)
	if err != nil {
		return nil, err
	}
	if given {
		return call(n, callGiven, made), nil
	}
	return call(n, callMissing, made), nil
}

// in compiles x in [literals], x in low..high, and "name" in ext_attrs.
func (m *maker) in(n *ast.BinaryNode, prefix string) (ast.Node, error) {
	x, err := m.value(n.Left)
	if err != nil {
		return nil, err
	}
	switch right := n.Right.(type) {
	case *ast.ArrayNode:
		l := &list{values: make([]any, 0, len(right.Nodes))}
		for _, item := range right.Nodes {
			if err := m.count(item); err != nil {
				return nil, err
			}
			v := literal(item)
			if v == nil {
				return nil, fault(item, "a list holds only numbers, texts, true and false as they stand")
			}
			l.values = append(l.values, v)
		}
		return call(n, prefix+n.Operator, x, constant(right, l)), nil
	case *ast.BinaryNode:
		if right.Operator == ".." {
			bounds, err := m.values(right.Left, right.Right)
			if err != nil {
				return nil, err
			}
			between := callBetween
			if prefix == negated {
				between = negated + callBetween
			}
			return call(n, between, x, bounds[0], bounds[1]), nil
		}
	case *ast.IdentifierNode:
		if right.Value == "ext_attrs" {
			return call(n, prefix+n.Operator, x, name(right, right.Value)), nil
		}
	}
	return nil, fault(n.Right, "on the right of in stands a list such as [1, 2], a span such as 1..5, or ext_attrs")
}

// matches compiles a pattern, which must be known when the rules are saved: its
// size bounds what holding a text against it costs.
func (m *maker) matches(n *ast.BinaryNode, prefix string) (ast.Node, error) {
	text, err := m.value(n.Left)
	if err != nil {
		return nil, err
	}
	pattern, ok := n.Right.(*ast.StringNode)
	if !ok {
		return nil, fault(n.Right, "a pattern is a text as it stands")
	}
	if len(pattern.Value) > MaxPattern {
		return nil, fault(pattern, "a pattern has at most %d bytes", MaxPattern)
	}
	parsed, err := syntax.Parse(pattern.Value, syntax.Perl)
	if err != nil {
		return nil, fault(pattern, "%s", err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fault(pattern, "%s", err)
	}
	m.spent.steps += len(program.Inst)
	if len(program.Inst) > MaxPatternSteps {
		return nil, fault(pattern, "the pattern repeats too much")
	}
	if m.spent.steps > MaxSetSteps {
		return nil, fault(pattern, "the queue's patterns repeat too much together")
	}
	compiled, err := regexp.Compile(pattern.Value)
	if err != nil {
		return nil, fault(pattern, "%s", err)
	}
	return call(n, prefix+n.Operator, text, constant(pattern, compiled)), nil
}
