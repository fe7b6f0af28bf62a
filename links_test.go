package dengxu_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	markdownCode = regexp.MustCompile("`[^`]*`") // Go has ]( too
)

// TestLinksLeadSomewhere follows the relative links of the documentation, to
// headings too.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %v, %v", pattern, found, err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range markdownLink.FindAllStringSubmatch(markdownCode.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(link[1], "://") {
				continue
			}
			file, heading, _ := strings.Cut(link[1], "#")
			target := filepath.Join(filepath.Dir(page), filepath.FromSlash(file))
			if file == "" {
				target = page
			}
			if !leads(target, heading) {
				t.Errorf("%s: the link to %s leads nowhere", page, link[1])
			}
		}
	}
}

// leads reports whether a file is there and has a heading with this anchor.
func leads(file, anchor string) bool {
	if anchor == "" {
		_, err := os.Stat(file)
		return err == nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		title := strings.TrimLeft(line, "#")
		if title != line && strings.ReplaceAll(strings.ToLower(strings.TrimSpace(title)), " ", "-") == anchor {
			return true
		}
	}
	return false
}
