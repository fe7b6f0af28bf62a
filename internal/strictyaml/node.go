// Package strictyaml reads YAML files that people write: every mistake is an
// error with its line and column, an unknown or repeated key too. It owns the
// tree with positions and the check of a tree against the JSON shape of a Go
// type, and refuses defaults, merge keys and files of more than one document.
package strictyaml

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxNodes bounds a tree after its aliases are followed.
const maxNodes = 100_000

// Error is a mistake in a file.
type Error struct {
	Line, Column int // from 1
	Message      string
}

// Error returns "line:column: message".
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// Node is a mapping, a list or a scalar with its place in the file.
type Node struct {
	Line, Column int
	// Exactly one of these is set. A scalar is a string, bool, int64, uint64,
	// float64 or, for an empty value, null{}.
	Entries []Entry
	List    []*Node
	scalar  any
	kind    kind
}

// Entry is one key of a mapping, in the order of the file.
type Entry struct {
	Key          string
	Line, Column int
	Value        *Node
}

type kind string

const (
	aMapping kind = "a mapping"
	aList    kind = "a list"
	aString  kind = "a string"
	aBool    kind = "true or false"
	aNumber  kind = "a number"
	nothing  kind = "empty"
)

// Errorf makes an error at the node.
func (n *Node) Errorf(format string, args ...any) error {
	return &Error{n.Line, n.Column, fmt.Sprintf(format, args...)}
}

// Get returns the value of a key, or nil.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key == key {
			return e.Value
		}
	}
	return nil
}

// Value returns the tree as encoding/json would: map[string]any, []any,
// string, bool, number or nil.
func (n *Node) Value() any {
	switch n.kind {
	case aMapping:
		m := make(map[string]any, len(n.Entries))
		for _, e := range n.Entries {
			m[e.Key] = e.Value.Value()
		}
		return m
	case aList:
		l := make([]any, len(n.List))
		for i, v := range n.List {
			l[i] = v.Value()
		}
		return l
	case aString, aBool, aNumber, nothing:
	}
	return n.scalar
}

// Parse reads one document. An empty file is an empty mapping.
func Parse(text []byte) (*Node, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, syntaxError(err)
	}
	r := reader{anchors: map[string]*Node{}}
	var root *Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		body, err := r.node(doc.Body)
		if err != nil {
			return nil, err
		}
		if root != nil {
			return nil, body.Errorf("a second document: the file may have one only")
		}
		root = body
	}
	if root == nil || root.kind == nothing {
		return &Node{Line: 1, Column: 1, kind: aMapping}, nil
	}
	return root, nil
}

// syntaxError takes the place out of the parser's own error.
func syntaxError(err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		pos := e.GetToken().Position
		return &Error{pos.Line, pos.Column, e.GetMessage()}
	}
	return &Error{1, 1, err.Error()}
}

// reader turns the parser's tree into ours.
type reader struct {
	anchors map[string]*Node
	count   int
}

func at(n ast.Node) *Node {
	pos := &token.Position{Line: 1, Column: 1}
	if tk := n.GetToken(); tk != nil && tk.Position != nil {
		pos = tk.Position
	}
	return &Node{Line: pos.Line, Column: pos.Column}
}

func (r *reader) node(n ast.Node) (*Node, error) {
	if r.count++; r.count > maxNodes {
		return nil, at(n).Errorf("the file is too large")
	}
	out := at(n)
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 {
			out = at(n.Values[0].Key)
		}
		return r.mapping(out, n.Values)
	case *ast.MappingValueNode:
		return r.mapping(at(n.Key), []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		out.kind = aList
		for _, v := range n.Values {
			item, err := r.node(v)
			if err != nil {
				return nil, err
			}
			out.List = append(out.List, item)
		}
		return out, nil
	case *ast.AnchorNode:
		value, err := r.node(n.Value)
		if err == nil {
			r.anchors[n.Name.GetToken().Value] = value
		}
		return value, err
	case *ast.AliasNode:
		return r.alias(n, out)
	}
	return out, out.setScalar(n)
}

// alias returns what the anchor stands for; its size counts again.
func (r *reader) alias(n *ast.AliasNode, out *Node) (*Node, error) {
	name := n.Value.GetToken().Value
	target, ok := r.anchors[name]
	if !ok {
		return nil, out.Errorf("*%s is not defined before", name)
	}
	if r.count += target.size(); r.count > maxNodes {
		return nil, out.Errorf("the file is too large")
	}
	return target, nil
}

func (n *Node) size() int {
	size := 1
	for _, e := range n.Entries {
		size += e.Value.size()
	}
	for _, v := range n.List {
		size += v.size()
	}
	return size
}

func (r *reader) mapping(out *Node, values []*ast.MappingValueNode) (*Node, error) {
	out.kind = aMapping
	for _, v := range values {
		key := at(v.Key)
		name := v.Key.GetToken().Value
		if v.Key.IsMergeKey() {
			return nil, key.Errorf("merge keys are not supported")
		}
		if out.Get(name) != nil {
			return nil, key.Errorf("key %q is given twice", name)
		}
		value, err := r.node(v.Value)
		if err != nil {
			return nil, err
		}
		out.Entries = append(out.Entries, Entry{Key: name, Line: key.Line, Column: key.Column, Value: value})
	}
	return out, nil
}

func (n *Node) setScalar(from ast.Node) error {
	switch from := from.(type) {
	case *ast.StringNode:
		n.kind, n.scalar = aString, from.Value
	case *ast.LiteralNode:
		n.kind, n.scalar = aString, from.Value.Value
	case *ast.BoolNode:
		n.kind, n.scalar = aBool, from.Value
	case *ast.IntegerNode:
		n.kind, n.scalar = aNumber, from.Value
	case *ast.FloatNode:
		n.kind, n.scalar = aNumber, from.Value
	case *ast.NullNode:
		n.kind = nothing
	default:
		return n.Errorf("%s is not supported here", strings.ToLower(from.Type().String()))
	}
	return nil
}
