package dengxu_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/dengxu/dengxu"

// arrow is what one package may import in files that are no tests: packages of
// this project ("." is the root) and modules from outside.
type arrow struct {
	from    string
	to      []string
	outside []string
}

// arrows is the whole layout. Arrows point up in this table, to lines before,
// which is down in the design: cmd → app → httpapi, feed → engine → store →
// order → root. The engine stands before every concrete store, so that it can
// never see one; client knows the root only, so that a program that uses it
// does not get the server.
var arrows = []arrow{
	{from: "."},
	{from: "client", to: []string{"."}},
	{from: "examples/go/room", to: []string{".", "client"}},
	{from: "examples/go/ticket", to: []string{".", "client"}},
	{from: "internal/order"},
	{from: "internal/rule", to: []string{"."}, outside: []string{"github.com/expr-lang/expr"}},
	{from: "internal/estimate/gbdt"},
	{from: "internal/estimate/linear"},
	{from: "internal/estimate", to: []string{".", "internal/estimate/gbdt", "internal/estimate/linear", "internal/order"}},
	{from: "internal/store", to: []string{".", "internal/order"}},
	{from: "internal/announce", to: []string{".", "internal/estimate", "internal/order"}},
	{from: "internal/engine", to: []string{".", "internal/announce", "internal/estimate", "internal/order", "internal/rule", "internal/store"}},

	{from: "internal/store/ledger", to: []string{".", "internal/order", "internal/store"}},
	{from: "internal/store/memstore", to: []string{".", "internal/order", "internal/store", "internal/store/ledger"}},
	{
		from:    "internal/store/pebblestore",
		to:      []string{".", "internal/order", "internal/store", "internal/store/ledger"},
		outside: []string{"github.com/cockroachdb/pebble/v2"},
	},
	{
		from:    "internal/store/redisstore",
		to:      []string{".", "internal/order", "internal/store", "internal/store/ledger"},
		outside: []string{"github.com/redis/rueidis"},
	},
	{
		from:    "internal/store/storetest",
		to:      []string{".", "internal/order", "internal/store", "internal/store/memstore"},
		outside: []string{"github.com/google/go-cmp"},
	},

	{from: "internal/feed", to: []string{".", "internal/store"}},
	{
		from:    "internal/httpapi",
		to:      []string{".", "internal/engine", "internal/feed", "internal/store"},
		outside: []string{"github.com/danielgtaylor/huma/v2"},
	},
	{from: "internal/backup", to: []string{".", "internal/engine", "internal/store"}},
	{
		from: "internal/app",
		to: []string{
			".", "internal/backup", "internal/engine", "internal/estimate", "internal/feed", "internal/httpapi",
			"internal/store", "internal/store/memstore", "internal/store/pebblestore", "internal/store/redisstore",
		},
		outside: []string{"github.com/prometheus/client_golang"},
	},
	{from: "internal/strictyaml", to: []string{"."}, outside: []string{"github.com/goccy/go-yaml"}},
	{
		from:    "internal/ctl",
		to:      []string{".", "client", "internal/strictyaml"},
		outside: []string{"github.com/alecthomas/kong", "github.com/goccy/go-yaml", "golang.org/x/text"},
	},
	{from: "internal/place", to: []string{"."}, outside: []string{"gocloud.dev"}}, // here only: the SDK of S3 is 12 MB
	{from: "internal/recording"},
	{from: "internal/evaluate", to: []string{".", "internal/estimate", "internal/order", "internal/recording"}},
	{
		from: "internal/sim",
		to: []string{
			".", "internal/engine", "internal/order", "internal/recording", "internal/store", "internal/store/memstore",
			"internal/strictyaml",
		},
	},
	{from: "internal/replay", to: []string{".", "client", "internal/recording"}},
	{
		from: "cmd/dengxu",
		to: []string{
			".", "client", "internal/app", "internal/backup", "internal/ctl", "internal/evaluate", "internal/place", "internal/recording", "internal/replay",
			"internal/sim", "internal/store", "internal/strictyaml",
		},
		outside: []string{"github.com/alecthomas/kong"},
	},
	{from: "dengxutest", to: []string{".", "client", "internal/app", "internal/store/memstore"}},
	{from: "internal/scenario", to: []string{".", "internal/strictyaml"}},

	// Nothing but tests.
	{from: "internal/redistest", outside: []string{"golang.org/x/sys"}},
	{from: "internal/bench"},
	{from: "internal/torture"},
}

// belowEngine are the packages that the engine stands on, and test servers,
// which know nothing of the project. Their tests may use each other, and
// nothing of what stands on them.
func belowEngine(pkg string) bool {
	return pkg == "." || pkg == "internal/order" || pkg == "internal/rule" || pkg == "internal/redistest" ||
		pkg == "internal/estimate" || strings.HasPrefix(pkg, "internal/estimate/") ||
		pkg == "internal/store" || strings.HasPrefix(pkg, "internal/store/")
}

// imports are the import paths of one package.
type imports struct{ code, tests map[string]bool }

func TestArrows(t *testing.T) {
	t.Parallel()
	tree := readImports(t)
	listed := map[string]bool{}
	for _, a := range arrows {
		if listed[a.from] {
			t.Errorf("%s stands twice in the table", a.from)
		}
		for _, to := range a.to {
			if !listed[to] {
				t.Errorf("the table lets %s import %s, which does not stand before it", a.from, to)
			}
		}
		listed[a.from] = true
		found, ok := tree[a.from]
		if !ok {
			t.Errorf("%s is in the table and does not exist", a.from)
			continue
		}
		checkArrow(t, a, found.code)
	}
	for pkg := range tree {
		if !listed[pkg] {
			t.Errorf("package %s is not in the table: say there what it may import", pkg)
		}
	}
}

func checkArrow(t *testing.T, a arrow, found map[string]bool) {
	t.Helper()
	used := map[string]bool{}
	for imported := range found {
		allowed, rule := a.outside, func(listed string) bool {
			return imported == listed || strings.HasPrefix(imported, listed+"/")
		}
		pkg, ours := inProject(imported)
		if ours {
			allowed, rule = a.to, func(listed string) bool { return pkg == listed }
		} else if isStd(imported) {
			continue
		}
		i := slices.IndexFunc(allowed, rule)
		if i < 0 {
			t.Errorf("%s imports %s, which the table does not allow", a.from, imported)
			continue
		}
		used[allowed[i]] = true
	}
	for _, listed := range slices.Concat(a.to, a.outside) {
		if !used[listed] {
			t.Errorf("the table lets %s import %s, which it does not: remove the entry", a.from, listed)
		}
	}
}

func TestArrowsOfTests(t *testing.T) {
	t.Parallel()
	for from, found := range readImports(t) {
		for imported := range found.tests {
			if to, ours := inProject(imported); ours && belowEngine(from) && !belowEngine(to) {
				t.Errorf("a test of %s imports %s: what stands below the engine is tested without it", from, to)
			}
		}
	}
}

// inProject returns the folder of a package of this project.
func inProject(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// isStd reports whether an import path is of the standard library: its first
// element has no dot.
func isStd(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// readImports reads the imports of every package of this module, under every
// build constraint.
func readImports(t *testing.T) map[string]imports {
	t.Helper()
	tree := map[string]imports{}
	err := fs.WalkDir(os.DirFS("."), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if foreign(file) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(file) != ".go" {
			return nil
		}
		pkg := path.Dir(file)
		if tree[pkg].code == nil {
			tree[pkg] = imports{code: map[string]bool{}, tests: map[string]bool{}}
		}
		into := tree[pkg].code
		if strings.HasSuffix(file, "_test.go") {
			into = tree[pkg].tests
		}
		return addImports(file, into)
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func addImports(file string, into map[string]bool) error {
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.FromSlash(file), nil, parser.ImportsOnly)
	if err != nil {
		return err
	}
	for _, spec := range parsed.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return err
		}
		into[imported] = true
	}
	return nil
}

// foreign reports whether a folder holds no packages of this module: hidden
// ones, test data, and modules of their own.
func foreign(dir string) bool {
	if dir == "." {
		return false
	}
	name := path.Base(dir)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" {
		return true
	}
	_, err := os.Stat(filepath.Join(filepath.FromSlash(dir), "go.mod"))
	return err == nil
}
