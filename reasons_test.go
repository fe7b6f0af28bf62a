package dengxu_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestReasonsAreDocumented holds the reason words of docs/errors.md against
// those that the code gives.
func TestReasonsAreDocumented(t *testing.T) {
	t.Parallel()
	given := givenReasons(t)
	// What shut doors say is computed: the door, or the opening hours.
	for _, word := range []string{"paused", "closing", "closed", "before_opening", "last_ticket"} {
		given[word] = true
	}
	page, err := os.ReadFile("docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n## Reasons\n")
	table, _, ended := strings.Cut(table, "\n## ")
	if !found || !ended {
		t.Fatal("docs/errors.md has no section Reasons")
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table, -1) {
		if documented[row[1]] {
			t.Errorf("reason %s stands twice in docs/errors.md", row[1])
		}
		documented[row[1]] = true
	}
	for _, word := range slices.Sorted(maps.Keys(given)) {
		if !documented[word] {
			t.Errorf("reason %s is not in docs/errors.md", word)
		}
	}
	for _, word := range slices.Sorted(maps.Keys(documented)) {
		if !given[word] {
			t.Errorf("reason %s is in docs/errors.md, and nothing gives it", word)
		}
	}
}

// givenReasons finds the words that Because and the engine's conflict are
// called with, as literals or constants.
func givenReasons(t *testing.T) map[string]bool {
	t.Helper()
	given := map[string]bool{}
	err := fs.WalkDir(os.DirFS("."), ".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if foreign(dir) {
			return fs.SkipDir
		}
		return reasonsOf(dir, given)
	})
	if err != nil {
		t.Fatal(err)
	}
	return given
}

// reasonsOf adds the words of one package.
func reasonsOf(dir string, given map[string]bool) error {
	files, err := parseCode(dir)
	if err != nil {
		return err
	}
	constants := map[string]string{}
	for n := range nodes(files) {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
			for i, name := range spec.Names {
				if word, ok := literal(spec.Values[i]); ok {
					constants[name.Name] = word
				}
			}
		}
	}
	for n := range nodes(files) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			continue
		}
		called, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || called.Sel.Name != "Because" && called.Sel.Name != "conflict" {
			continue
		}
		word, ok := literal(call.Args[0])
		if name, isName := call.Args[0].(*ast.Ident); isName {
			word, ok = constants[name.Name]
		}
		if ok {
			given[word] = true
		}
	}
	return nil
}

// parseCode parses the files of a folder that are no tests.
func parseCode(dir string) (files []*ast.File, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// nodes yields every node of some files.
func nodes(files []*ast.File) iter.Seq[ast.Node] {
	return func(yield func(ast.Node) bool) {
		for _, file := range files {
			for n := range ast.Preorder(file) {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// literal returns the value of a string literal.
func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	word, err := strconv.Unquote(lit.Value)
	return word, err == nil
}
