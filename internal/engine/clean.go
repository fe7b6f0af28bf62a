package engine

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dengxu/dengxu"
)

// Bounds of settings that people write.
const (
	maxName     = 128               // characters
	maxWord     = 64                // characters of a class, group or field name
	maxPrefix   = 8                 // characters
	maxLabels   = 32                // languages
	maxLanguage = 35                // characters of a tag: what RFC 5646, 4.4.1, wants room for
	maxSeconds  = 10 * 365 * 86_400 // ten years
	maxQuantity = 1_000_000_000
)

var languagePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// cleanName cleans and bounds a name for people.
func cleanName(field string, name *string) error { return cleanText(field, name, maxName) }

// cleanLabels cleans names by language. It changes the map in place.
func cleanLabels(field string, labels map[string]string) error {
	if len(labels) > maxLabels {
		return dengxu.Fieldf(dengxu.Invalid, field, "more than %d languages", maxLabels)
	}
	for _, language := range sortedKeys(labels) {
		if err := checkLanguage(field+"."+language, language); err != nil {
			return err
		}
		label := labels[language]
		if err := cleanName(field+"."+language, &label); err != nil {
			return err
		}
		labels[language] = label
	}
	return nil
}

// checkLanguage holds a language tag, as far as its form goes.
func checkLanguage(field, tag string) error {
	if len(tag) > maxLanguage || !languagePattern.MatchString(tag) {
		return dengxu.Fieldf(dengxu.Invalid, field, "%q is not a language tag such as zh-CN", tag)
	}
	return nil
}

// printable reports whether a text is what it looks like, character by
// character.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// checkWord holds the name of a class, group or field: short, printable, and
// not like the classes of tokens bound to a counter ("@counter").
func checkWord(field, word string) error {
	if word == "" || !printable(word) || utf8.RuneCountInString(word) > maxWord || strings.TrimSpace(word) != word || word[0] == '@' {
		return dengxu.Fieldf(dengxu.Invalid, field, "%q is not a name of 1 to %d printable characters", word, maxWord)
	}
	return nil
}

// checkPrefix holds what stands before a printed number.
func checkPrefix(field string, prefix *string) error {
	if prefix == nil {
		return nil
	}
	if !printable(*prefix) || utf8.RuneCountInString(*prefix) > maxPrefix {
		return dengxu.Fieldf(dengxu.Invalid, field, "a prefix has at most %d printable characters", maxPrefix)
	}
	return nil
}

// checkOneOf holds a word against the words that a setting knows; the empty
// one means its default.
func checkOneOf(field, word string, known ...string) error {
	if word != "" && !slices.Contains(known, word) {
		return dengxu.Fieldf(dengxu.Invalid, field, "%q is none of %s", word, strings.Join(known, ", "))
	}
	return nil
}

// checkRange holds a number against its bounds; nil means its default.
func checkRange[N int | int64 | float64](field string, n *N, least, most N) error {
	if n == nil {
		return nil
	}
	if math.IsNaN(float64(*n)) || *n < least || *n > most {
		return dengxu.Fieldf(dengxu.Invalid, field, "%v is not from %v to %v", *n, least, most)
	}
	return nil
}

// checkSeconds holds durations that may be 0.
func checkSeconds(field string, seconds *float64) error {
	return checkRange(field, seconds, 0, maxSeconds)
}

// firstError returns the first error of a list of checks.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// sortedValues are the values of a map by their keys.
func sortedValues[K cmp.Ordered, V any](m map[K]V) []V {
	values := make([]V, 0, len(m))
	for _, k := range sortedKeys(m) {
		values = append(values, m[k])
	}
	return values
}
