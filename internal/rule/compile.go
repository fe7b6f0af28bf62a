package rule

import "github.com/expr-lang/expr/ast"

// maker compiles a condition's tree into one of calls of total functions. It
// builds anew and changes nothing of the tree, of which the grammar may share
// parts: in 1 < a < 3 both comparisons have the same a.
type maker struct {
	windows []window
	waiting bool
	clock   bool
	own     int // nodes of this condition
	spent   cost
}

// compile makes the root: true or false whatever the operands.
func (m *maker) compile(root ast.Node) (ast.Node, error) { return m.truth(root) }

// count bounds the work: shared parts count as often as they are compiled.
func (m *maker) count(n ast.Node) error {
	m.own++
	m.spent.nodes++
	if m.own > MaxNodes {
		return fault(n, "the condition is too long: more than %d names, values and operators", MaxNodes)
	}
	if m.spent.nodes > MaxSetNodes {
		return fault(n, "the queue's conditions are too long: more than %d names, values and operators together", MaxSetNodes)
	}
	return nil
}

// truth compiles what must be true or false: anything else is false.
func (m *maker) truth(n ast.Node) (ast.Node, error) {
	made, err := m.value(n)
	if err != nil {
		return nil, err
	}
	return call(n, callTruth, made), nil
}

// value compiles what has a value, nil being missing.
func (m *maker) value(n ast.Node) (ast.Node, error) {
	if err := m.count(n); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return constant(n, literal(n)), nil
	case *ast.IdentifierNode:
		return m.identifier(n)
	case *ast.MemberNode:
		return m.member(n)
	case *ast.ChainNode: // a?.b: missing is no fault anyway
		return m.value(n.Node)
	case *ast.CallNode:
		return m.call(n)
	case *ast.UnaryNode:
		return m.unary(n)
	case *ast.BinaryNode:
		return m.binary(n)
	case *ast.ConditionalNode:
		return m.conditional(n)
	case *ast.NilNode:
		return nil, fault(n, "nil stands only beside == and !=")
	case *ast.ArrayNode:
		return nil, fault(n, "a list stands only on the right of in")
	case *ast.BuiltinNode:
		return nil, fault(n, "%s is not known in rules", n.Name)
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		return nil, fault(n, "a condition is one expression, without let and ;")
	default:
		return nil, fault(n, "this is not allowed in a condition")
	}
}

// variables are the names that stand for themselves.
var variables = map[string]bool{
	"priority_group": true, "class": true, "party_size": true, "channel": true, "business_id": true, "waiting": true,
}

func (m *maker) identifier(n *ast.IdentifierNode) (ast.Node, error) {
	switch {
	case variables[n.Value]:
		m.waiting = m.waiting || n.Value == "waiting"
		return name(n, n.Value), nil
	case n.Value == "ext_attrs":
		return nil, fault(n, "name an attribute, such as ext_attrs.age")
	case n.Value == "now":
		return nil, fault(n, "name a part of the time, such as now.hour")
	default:
		return nil, fault(n, "unknown name %s (an attribute is written ext_attrs.%s)", clip(n.Value), clip(n.Value))
	}
}

// member compiles ext_attrs.x and now.x; nothing else has members.
func (m *maker) member(n *ast.MemberNode) (ast.Node, error) {
	of, ok := n.Node.(*ast.IdentifierNode)
	if !ok || of.Value != "ext_attrs" && of.Value != "now" {
		return nil, fault(n, "only ext_attrs and now have parts")
	}
	key, ok := n.Property.(*ast.StringNode)
	if !ok {
		return nil, fault(n, "name the attribute, as in ext_attrs.age or ext_attrs[\"age\"]")
	}
	if of.Value == "ext_attrs" {
		return call(n, callAttr, name(of, of.Value), constant(key, key.Value)), nil
	}
	for _, known := range Names {
		if known.Name == "now."+key.Value {
			m.clock = true
			made := &ast.MemberNode{Node: name(of, of.Value), Property: constant(key, key.Value)}
			made.SetLocation(n.Location())
			return made, nil
		}
	}
	return nil, fault(n, "now has no %s: it has hour, minute, weekday, day, month, year, date, time", clip(key.Value))
}

func (m *maker) call(n *ast.CallNode) (ast.Node, error) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil, fault(n, "this cannot be called")
	}
	if _, ok := histories[callee.Value]; ok {
		return m.history(n, callee.Value)
	}
	f, ok := named[callee.Value]
	if !ok {
		return nil, fault(n, "%s is not known in rules", clip(callee.Value))
	}
	operands := 1
	if f.two != nil {
		operands = 2
	}
	if len(n.Arguments) != operands {
		return nil, fault(n, "%s takes %d operands, not %d", callee.Value, operands, len(n.Arguments))
	}
	made, err := m.values(n.Arguments...)
	if err != nil {
		return nil, err
	}
	return call(n, callee.Value, made...), nil
}

// history compiles a look back, whose length must be known when the rules are
// saved: it says what is kept, and for how long.
func (m *maker) history(n *ast.CallNode, function string) (ast.Node, error) {
	if len(n.Arguments) != 1 {
		return nil, fault(n, "%s takes one time, such as %s(\"1h\")", function, function)
	}
	text, ok := n.Arguments[0].(*ast.StringNode)
	if !ok {
		return nil, fault(n.Arguments[0], "%s takes a time as it stands, such as %s(\"1h\")", function, function)
	}
	long, err := parseWindow(text.Value)
	if err != nil {
		return nil, fault(text, "%s", err)
	}
	if m.spent.windows++; m.spent.windows > MaxSetWindows {
		return nil, fault(n, "the queue's conditions look back more than %d times together", MaxSetWindows)
	}
	h := histories[function]
	m.windows = append(m.windows, window{kind: h.kind, long: long})
	return call(n, callWithin, name(n, h.name), constant(n, long)), nil
}

func (m *maker) unary(n *ast.UnaryNode) (ast.Node, error) {
	switch n.Operator {
	case "-", "+":
		made, err := m.value(n.Node)
		if err != nil {
			return nil, err
		}
		if n.Operator == "-" {
			return call(n, callMinus, made), nil
		}
		return call(n, callPlus, made), nil
	case "!", "not":
		// The grammar makes a not of "x not in y", at the place of the in: it
		// is one comparison, which is false where it cannot be made.
		if c, ok := n.Node.(*ast.BinaryNode); ok && n.Operator == "not" && n.Location() == c.Location() {
			return m.comparison(c, negated)
		}
		made, err := m.truth(n.Node)
		if err != nil {
			return nil, err
		}
		not := &ast.UnaryNode{Operator: "!", Node: made}
		not.SetLocation(n.Location())
		return not, nil
	default:
		return nil, fault(n, "unknown operator %s", n.Operator)
	}
}

func (m *maker) binary(n *ast.BinaryNode) (ast.Node, error) {
	switch n.Operator {
	case "and", "&&", "or", "||":
		left, err := m.truth(n.Left)
		if err != nil {
			return nil, err
		}
		right, err := m.truth(n.Right)
		if err != nil {
			return nil, err
		}
		return pair(n, n.Operator, left, right), nil
	case "??":
		made, err := m.values(n.Left, n.Right)
		if err != nil {
			return nil, err
		}
		return pair(n, n.Operator, made[0], made[1]), nil
	case "!=":
		return m.comparison(&ast.BinaryNode{Operator: "==", Left: n.Left, Right: n.Right}, negated)
	}
	if _, ok := comparisons[n.Operator]; ok {
		return m.comparison(n, "@")
	}
	if _, ok := arithmetic[n.Operator]; !ok {
		return nil, fault(n, "%s is not known here", n.Operator)
	}
	made, err := m.values(n.Left, n.Right)
	if err != nil {
		return nil, err
	}
	return call(n, "@"+n.Operator, made...), nil
}

func (m *maker) conditional(n *ast.ConditionalNode) (ast.Node, error) {
	cond, err := m.truth(n.Cond)
	if err != nil {
		return nil, err
	}
	made, err := m.values(n.Exp1, n.Exp2)
	if err != nil {
		return nil, err
	}
	c := &ast.ConditionalNode{Ternary: true, Cond: cond, Exp1: made[0], Exp2: made[1]}
	c.SetLocation(n.Location())
	return c, nil
}

func (m *maker) values(nodes ...ast.Node) ([]ast.Node, error) {
	made := make([]ast.Node, 0, len(nodes))
	for _, n := range nodes {
		v, err := m.value(n)
		if err != nil {
			return nil, err
		}
		made = append(made, v)
	}
	return made, nil
}

// literal is the value of a node that stands for itself, nil of any other.
func literal(n ast.Node) any {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return float64(n.Value)
	case *ast.FloatNode:
		return n.Value
	case *ast.BoolNode:
		return n.Value
	case *ast.StringNode:
		return n.Value
	case *ast.UnaryNode:
		if x, ok := literal(n.Node).(float64); ok && n.Operator == "-" {
			return -x
		}
	}
	return nil
}

// The nodes of the compiled tree, at the places of those they come from.

func call(at ast.Node, function string, operands ...ast.Node) ast.Node {
	c := &ast.CallNode{Callee: name(at, function), Arguments: operands}
	c.SetLocation(at.Location())
	return c
}

func name(at ast.Node, s string) ast.Node {
	n := &ast.IdentifierNode{Value: s}
	n.SetLocation(at.Location())
	return n
}

func constant(at ast.Node, v any) ast.Node {
	var n ast.Node = &ast.ConstantNode{Value: v}
	if s, ok := v.(string); ok {
		n = &ast.StringNode{Value: s}
	}
	n.SetLocation(at.Location())
	return n
}

func pair(at *ast.BinaryNode, operator string, left, right ast.Node) ast.Node {
	n := &ast.BinaryNode{Operator: operator, Left: left, Right: right}
	n.SetLocation(at.Location())
	return n
}
