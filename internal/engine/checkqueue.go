package engine

import (
	"fmt"
	"math"
	"slices"

	"github.com/dengxu/dengxu"
)

const (
	maxClasses   = 16 // in aging: one lane is reserved for each class
	maxGroups    = 32
	maxFields    = 32
	maxHeadStart = 30 * 86_400 // seconds
)

// checkQueue cleans a queue's settings and checks all of them that can be
// judged without looking at anything else. The error is Invalid with the field.
func checkQueue(set *dengxu.Queue) error {
	return firstError(
		checkKind(set.Kind),
		cleanName("name", &set.Name),
		cleanLabels("labels", set.Labels),
		checkNumbers(set),
		checkOrder(set),
		checkClasses(set),
		checkRules(set),
		checkFieldsSetting(set.Fields),
		checkLimits(set),
		checkCall(set),
		checkAbsence(set),
		checkAppointments(set.Appointments),
		checkPublicJoin(set),
		checkEstimates(set.Estimates),
	)
}

func checkEstimates(set *dengxu.Estimates) error {
	if set == nil {
		return nil
	}
	return checkOneOf("estimates.method", set.Method, dengxu.EstimatesAuto, dengxu.EstimatesErlang, dengxu.EstimatesWindow)
}

// maxCovariates is how many numbers a site may tell: a model has a column for
// each of the commonest eight.
const maxCovariates = 8

func checkCovariates(set map[string]float64) error {
	if len(set) > maxCovariates {
		return dengxu.Fieldf(dengxu.Invalid, "covariates", "more than %d covariates", maxCovariates)
	}
	for _, name := range sortedKeys(set) {
		if err := checkWord("covariates."+name, name); err != nil {
			return err
		}
		if v := set[name]; math.IsNaN(v) || math.Abs(v) > maxCovariate {
			return dengxu.Fieldf(dengxu.Invalid, "covariates."+name, "a covariate is a number up to %g", maxCovariate)
		}
	}
	return nil
}

// maxCovariate is the largest number that a covariate may be: squares of what
// is learned from have to stay finite.
const maxCovariate = 1e9

// checkKind is the one place that refuses queues of tasks, which are not built
// yet.
func checkKind(kind dengxu.Kind) error {
	if kind == dengxu.KindTask {
		return dengxu.Fieldf(dengxu.Invalid, "kind", "queues of tasks are not supported yet")
	}
	return checkOneOf("kind", string(kind), string(dengxu.KindPeople))
}

func checkNumbers(set *dengxu.Queue) error {
	if err := firstError(
		checkPrefix("prefix", set.Prefix),
		checkRange("number_width", set.NumberWidth, 1, 9),
		checkRange("first_number", set.FirstNumber, 0, 999_999_999),
		checkRange("last_number", set.LastNumber, 1, 999_999_999),
		checkOneOf("on_last_number", set.OnLastNumber, "widen", "refuse", "wrap"),
	); err != nil {
		return err
	}
	if set.Series != "" {
		if err := checkWord("series", set.Series); err != nil {
			return err
		}
	}
	first := int64(1)
	if set.FirstNumber != nil {
		first = *set.FirstNumber
	}
	if set.LastNumber != nil && *set.LastNumber < first {
		return dengxu.Fieldf(dengxu.Invalid, "last_number", "%d is less than first_number %d", *set.LastNumber, first)
	}
	return nil
}

func checkClasses(set *dengxu.Queue) error {
	for _, name := range sortedKeys(set.Classes) {
		field, class := "classes."+name, set.Classes[name]
		if err := firstError(
			checkWord(field, name),
			cleanName(field+".name", &class.Name),
			cleanLabels(field+".labels", class.Labels),
			checkPrefix(field+".prefix", class.Prefix),
			checkSeconds(field+".expected_service_seconds", &class.ExpectedServiceSeconds),
		); err != nil {
			return err
		}
		set.Classes[name] = class
	}
	if _, declared := set.Classes[set.DefaultClass]; set.DefaultClass != "" && !declared {
		return dengxu.Fieldf(dengxu.Invalid, "default_class", "class %q is not declared", set.DefaultClass)
	}
	return nil
}

func checkFieldsSetting(fields []dengxu.Field) error {
	if len(fields) > maxFields {
		return dengxu.Fieldf(dengxu.Invalid, "fields", "more than %d fields", maxFields)
	}
	for i := range fields {
		f, field := &fields[i], fmt.Sprintf("fields[%d]", i)
		if err := firstError(
			checkWord(field+".name", f.Name),
			checkOneOf(field+".type", f.Type, "text", "phone", "number", "bool"),
			checkRange(field+".max", &f.Max, 0, maxAttrs),
			cleanLabels(field+".labels", f.Labels),
		); err != nil {
			return err
		}
		if slices.ContainsFunc(fields[:i], func(other dengxu.Field) bool { return other.Name == f.Name }) {
			return dengxu.Fieldf(dengxu.Invalid, field+".name", "%q is declared twice", f.Name)
		}
	}
	return nil
}

func checkLimits(set *dengxu.Queue) error {
	return firstError(
		checkRange("max_length", &set.MaxLength, 0, maxQuantity),
		checkRange("daily_quota", &set.DailyQuota, 0, maxQuantity),
		checkSeconds("rejoin_after_seconds", &set.RejoinAfterSeconds),
		checkSeconds("expected_service_seconds", &set.ExpectedServiceSeconds),
		checkSeconds("expire_waiting_seconds", &set.ExpireWaitingSeconds),
		checkSeconds("retain_seconds", set.RetainSeconds),
	)
}

func checkCall(set *dengxu.Queue) error {
	return firstError(
		checkRange("call_timeout_seconds", set.CallTimeoutSeconds, 1, maxSeconds),
		checkOneOf("on_call_timeout", set.OnCallTimeout, "miss", "ask", "start"),
		checkRange("arrive_seconds", set.ArriveSeconds, 1, maxSeconds),
		checkRange("max_calls", set.MaxCalls, 1, 100),
		checkSeconds("recall_gap_seconds", set.RecallGapSeconds),
	)
}

func checkAbsence(set *dengxu.Queue) error {
	if m := set.Missed; m != nil {
		if err := firstError(
			checkOneOf("missed.policy", m.Policy, "requeue", "keep", "remove"),
			checkSeconds("missed.penalty_seconds", m.PenaltySeconds),
			checkRange("missed.max_misses", m.MaxMisses, 1, maxQuantity),
			checkSeconds("missed.keep_seconds", m.KeepSeconds),
		); err != nil {
			return err
		}
	}
	if d := set.Defer; d != nil {
		if err := firstError(
			checkRange("defer.seconds", d.Seconds, 1, maxSeconds),
			checkRange("defer.max", d.Max, 0, maxQuantity),
		); err != nil {
			return err
		}
	}
	if c := set.CheckIn; c != nil {
		if err := firstError(
			checkOneOf("check_in.required", c.Required, "none", "remote", "all"),
			checkSeconds("check_in.within_seconds", &c.WithinSeconds),
		); err != nil {
			return err
		}
	}
	a := set.Ask
	if a == nil {
		return nil
	}
	return firstError(
		checkSeconds("ask.after_seconds", &a.AfterSeconds),
		checkRange("ask.grace_seconds", a.GraceSeconds, 1, maxSeconds),
		checkOneOf("ask.on_silence", a.OnSilence, "abandon", "defer"),
	)
}

// checkPublicJoin lets the public be asked only for what the queue knows.
func checkPublicJoin(set *dengxu.Queue) error {
	p := set.PublicJoin
	if p == nil {
		return nil
	}
	for _, name := range p.Fields {
		declared := slices.ContainsFunc(set.Fields, func(f dengxu.Field) bool { return f.Name == name })
		if name == "appointment_at" && set.Appointments != nil {
			continue
		}
		if !declared && !slices.Contains([]string{"name", "phone", "party_size"}, name) {
			return dengxu.Fieldf(dengxu.Invalid, "public_join.fields", "field %q is not declared", name)
		}
	}
	for _, name := range p.Classes {
		if _, declared := set.Classes[name]; !declared {
			return dengxu.Fieldf(dengxu.Invalid, "public_join.classes", "class %q is not declared", name)
		}
	}
	return nil
}
