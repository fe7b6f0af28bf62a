package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/dengxu/dengxu"
)

// phrase is something that an explanation says. The table below has it in each
// language; what is said, and when, is decided once for all of them.
type phrase uint8

// The phrases. What their arguments are stands in the table.
const (
	sayJoined phrase = iota
	sayBooked
	sayJoinedLate
	sayRules
	sayFactor
	sayDayFactor
	sayHeadStart
	sayClipped
	sayOneCounter
	sayMoved
	sayLate
	sayNotBefore
	sayChecksIn
	sayStepped
	sayNext
	sayAhead
	sayCameLater
	sayCalledFirst
	sayCalledPassing
	sayCalledEarly
	sayCalledBooked
	sayAtLeast
	sayCalledByHand
	sayByHeadStart
	sayByFactor

	sayMissed
	sayCompleted
	sayCancelled
	sayAbandoned
	sayFailed
	sayNoCheckIn
	sayNoAnswer
	sayMissedTooLong
	sayCallTimeout
	sayDayEnd

	sayAheadIs
	sayAheadMore
	sayPassedIs
	sayPassedMore
	sayComparedIs
	sayShares

	sayWhyEarlier
	sayWhyPlaced
	sayWhyByHand
	sayWhyFactor
	sayWhyHeadStart
	sayWhyAppointment
	sayWhyOverdue
	sayWhyOverdueBoth
	sayWhyRank
	sayWhyShare
	sayWhyShareWas
	sayWhyDay
	sayWhyFuture
	sayWhyClass
	sayWhyUnknown

	sayHeadAging
	sayHeadStrict
	sayHeadOverdue
	sayHeadRatio
	sayHeadEpoch

	sayBoundNobody
	sayBoundShare
	sayBoundBefore
	sayBoundStrict
	sayBoundFirm
	sayBoundRatio
	sayBoundDay
	sayBoundAllDay
	sayByRules

	sayBoundNobodyWas
	sayBoundShareWas
	sayBoundBeforeWas
	sayBoundStrictWas
	sayBoundFirmWas
	sayBoundDayWas
	sayBoundAllWas
	phraseCount
)

// languages of the table, in its order.
var languages = [2]string{"en", "zh-CN"}

// phrases is the table: English, Chinese. The arguments are numbered, because
// their order is that of the first and not always of the second.
var phrases = [phraseCount][len(languages)]string{
	sayJoined:        {"%[1]s joined at %[2]s as %[3]s", "%[1]s 于 %[2]s 取号，优先组 %[3]s"},
	sayBooked:        {"its appointment is at %[1]s", "预约时间 %[1]s"},
	sayJoinedLate:    {"it joined late for it, and has the place of its joining", "取号时已迟到，按取号时间排列"},
	sayRules:         {"rules that matched: %[1]s", "命中规则：%[1]s"},
	sayFactor:        {"its wait counts %[1]s times", "等待时间按 %[1]s 倍计算"},
	sayDayFactor:     {"the day until its join counts %[1]s times", "当日至取号的时间按 %[1]s 倍计算"},
	sayHeadStart:     {"head start %[1]s s", "提前量 %[1]s 秒"},
	sayClipped:       {"the factor was limited by the queue's settings", "系数受队列设置限制"},
	sayOneCounter:    {"it waits for counter %[1]s only", "只等窗口 %[1]s"},
	sayMoved:         {"an operator moved it at %[1]s%[2]s", "工作人员于 %[1]s 调整了次序%[2]s"},
	sayLate:          {"it checked in late, at %[1]s, and stands as if it had joined then", "报到迟到（%[1]s），按报到时取号排列"},
	sayNotBefore:     {"it cannot be called before %[1]s", "%[1]s 之前不能叫号"},
	sayChecksIn:      {"it has not checked in", "尚未报到"},
	sayStepped:       {"it steps back until another token of the same person is done", "同一人的另一个号结束前暂不叫号"},
	sayNext:          {"it is next", "下一位就是"},
	sayAhead:         {"%[1]d ahead", "前面还有 %[1]d 位"},
	sayCameLater:     {"at least %[1]d of them came later", "其中至少 %[1]d 位来得更晚"},
	sayCalledFirst:   {"when it was called nobody had an earlier place", "叫号时没有更早的号"},
	sayCalledPassing: {"when it was called it passed %[1]d with an earlier place", "叫号时先于 %[1]d 个次序更早的号"},
	sayCalledEarly:   {"when it was called it passed %[1]s who came earlier, %[2]s", "叫号时先于 %[1]s 个来得更早的号（%[2]s）"},
	sayCalledBooked:  {"when it was called it passed %[1]s who came before its booked time, by its appointment", "叫号时因预约先于 %[1]s 个在其预约时间之前来的号"},
	sayAtLeast:       {"at least %[1]d", "至少 %[1]d"},
	sayByHeadStart:   {"by its head start", "因提前量"},
	sayByFactor:      {"by its factor", "因系数"},
	sayCalledByHand:  {"it was called by hand, out of turn%[1]s", "由工作人员指定叫号%[1]s"},

	sayMissed:        {"It did not come to its call and has been out of the line since %[1]s", "叫号未到，自 %[1]s 起不在队列中"},
	sayCompleted:     {"It was completed at %[1]s%[2]s", "%[1]s 办理完成%[2]s"},
	sayCancelled:     {"It was cancelled at %[1]s%[2]s", "%[1]s 取消%[2]s"},
	sayAbandoned:     {"It was given up at %[1]s%[2]s", "%[1]s 作放弃处理%[2]s"},
	sayFailed:        {"It failed for good at %[1]s%[2]s", "%[1]s 最终失败%[2]s"},
	sayNoCheckIn:     {"it did not check in", "未报到"},
	sayNoAnswer:      {"it did not answer whether it still comes", "未确认是否仍来"},
	sayMissedTooLong: {"nobody brought it back after its miss", "过号后未恢复"},
	sayCallTimeout:   {"it did not come in time", "叫号后未按时到"},
	sayDayEnd:        {"the day ended", "当日结束"},

	sayAheadIs:    {"Ahead: %[1]s – %[2]s", "在前：%[1]s，%[2]s"},
	sayAheadMore:  {"More are ahead than are named here", "前面还有未列出的号"},
	sayPassedIs:   {"Passed by %[1]s at %[2]s – %[3]s", "%[2]s 被 %[1]s 越过：%[3]s"},
	sayPassedMore: {"More may have passed it than are named here", "可能还有未列出的号越过了它"},
	sayComparedIs: {"Its call compared: %[1]s", "叫号时比较：%[1]s"},
	sayShares:     {"what the groups owed by their shares decided, not the waits; where they owed the same, the earlier place", "按各组份额的欠数决定，不看等待时间；欠数相同时次序早者先"},

	sayWhyEarlier:     {"it came earlier, at %[1]s", "来得更早（%[1]s）"},
	sayWhyPlaced:      {"its place, %[1]s, is before %[2]s", "次序 %[1]s 早于 %[2]s"},
	sayWhyByHand:      {"an operator called it by hand%[1]s", "由工作人员指定叫号%[1]s"},
	sayWhyFactor:      {"its %[1]s at factor %[2]s count %[3]s; here %[4]s at factor %[5]s count %[6]s", "其 %[1]s（系数 %[2]s）计为 %[3]s；本号 %[4]s（系数 %[5]s）计为 %[6]s"},
	sayWhyHeadStart:   {"with its head start of %[7]s, its %[1]s at factor %[2]s count %[3]s; here %[4]s at factor %[5]s count %[6]s", "含提前量 %[7]s，其 %[1]s（系数 %[2]s）计为 %[3]s；本号 %[4]s（系数 %[5]s）计为 %[6]s"},
	sayWhyAppointment: {"for its appointment at %[7]s it stands at %[8]s: its %[1]s at factor %[2]s count %[3]s; here %[4]s at factor %[5]s count %[6]s", "预约 %[7]s，次序 %[8]s：其 %[1]s（系数 %[2]s）计为 %[3]s；本号 %[4]s（系数 %[5]s）计为 %[6]s"},
	sayWhyOverdue:     {"it has stood %[1]s, and whoever has stood %[2]s goes before every rank", "已等 %[1]s，等满 %[2]s 者先于所有等级"},
	sayWhyOverdueBoth: {"both have stood %[1]s and more, and its place, %[2]s, is before %[3]s", "两者都已等满 %[1]s，其次序 %[2]s 早于 %[3]s"},
	sayWhyRank:        {"%[1]s (rank %[2]d) goes before %[3]s (rank %[4]d)", "%[1]s（等级 %[2]d）先于 %[3]s（等级 %[4]d）"},
	sayWhyShare:       {"by the shares, %[1]s %[2]d to %[3]s %[4]d, it is the turn of %[1]s", "按份额 %[1]s %[2]d 比 %[3]s %[4]d，轮到 %[1]s"},
	sayWhyShareWas:    {"by the shares, %[1]s %[2]d to %[3]s %[4]d, it was the turn of %[1]s", "按份额 %[1]s %[2]d 比 %[3]s %[4]d，当时轮到 %[1]s"},
	sayWhyDay:         {"its time of day counts %[1]s times, so its place, %[2]s, is before %[3]s", "其当日时间按 %[1]s 倍计算，次序 %[2]s 早于 %[3]s"},
	sayWhyFuture:      {"the place of %[1]s, %[2]s, lies in the future", "%[1]s 的次序 %[2]s 尚未到"},
	sayWhyClass:       {"it is of another class, whose next had the earlier place", "属于另一业务类别，该类别的下一位次序更早"},
	sayWhyUnknown:     {"places or settings have changed since, so that the record does not tell", "此后次序或设置有变，记录无法说明"},

	sayHeadAging:   {"%[1]s %[2]s at factor %[3]s = %[4]s", "%[1]s %[2]s，系数 %[3]s，计 %[4]s"},
	sayHeadStrict:  {"%[1]s rank %[2]d, %[3]s", "%[1]s 等级 %[2]d，%[3]s"},
	sayHeadOverdue: {"%[1]s overdue, %[3]s", "%[1]s 已超时，%[3]s"},
	sayHeadRatio:   {"%[1]s of %[2]s, share %[3]d", "%[1]s 属 %[2]s，份额 %[3]d"},
	sayHeadEpoch:   {"%[1]s place %[2]s", "%[1]s 次序 %[2]s"},

	sayBoundNobody: {"Nobody who comes later can pass it, except by hand", "后来者不能越过它，人工指定除外"},
	sayBoundShare:  {"Nobody who joins after the first %[1]s %% of its wait can pass it (that is the limit of %[2]s)", "在它等待的前 %[1]s %% 时间之后取号者不能越过它（这是 %[2]s 的界限）"},
	sayBoundBefore: {"Of those who joined at %[1]s or later nobody can have passed it so far", "%[1]s 及以后取号者目前都不可能越过它"},
	sayBoundStrict: {"Those of a better rank pass it", "等级更高者先于它"},
	sayBoundFirm:   {"From %[1]s on only those with an earlier place who are overdue too go before it", "自 %[1]s 起，只有次序更早且同样超时者先于它"},
	sayBoundRatio:  {"While all groups wait, %[1]s gets %[2]d of %[3]d calls of its class", "各组都有人等待时，%[1]s 占该类别每 %[3]d 次叫号中的 %[2]d 次"},
	sayBoundDay:    {"Nobody who joins at %[1]s or later passes it (that is the limit of %[2]s)", "%[1]s 及以后取号者不能越过它（这是 %[2]s 的界限）"},
	sayBoundAllDay: {"Until the end of the day it is passed by all who join as %[1]s", "当日以后取号的 %[1]s 都先于它"},
	sayByRules:     {"those whom rules favour", "规则优待者"},

	sayBoundNobodyWas: {"Nobody who came later could pass it, except by hand", "后来者当时不能越过它，人工指定除外"},
	sayBoundShareWas:  {"Nobody who joined after the first %[1]s %% of its wait could pass it (that is the limit of %[2]s)", "在它等待的前 %[1]s %% 时间之后取号者当时不能越过它（这是 %[2]s 的界限）"},
	sayBoundBeforeWas: {"Of those who joined at %[1]s or later nobody can have passed it", "%[1]s 及以后取号者都不可能越过它"},
	sayBoundStrictWas: {"Those of a better rank could pass it until its call", "叫号前等级更高者可先于它"},
	sayBoundFirmWas:   {"From %[1]s to its call only those with an earlier place who were overdue too could go before it", "自 %[1]s 至叫号，只有次序更早且同样超时者可先于它"},
	sayBoundDayWas:    {"Nobody who joined at %[1]s or later could pass it (that is the limit of %[2]s)", "%[1]s 及以后取号者当时不能越过它（这是 %[2]s 的界限）"},
	sayBoundAllWas:    {"Until its call everybody who joined as %[1]s could pass it", "叫号前以 %[1]s 取号者都可先于它"},
}

// endings are how a token ended, and what an explanation says of it.
var endings = map[dengxu.State]phrase{
	dengxu.StateMissed: sayMissed, dengxu.StateCompleted: sayCompleted, dengxu.StateCancelled: sayCancelled,
	dengxu.StateAbandoned: sayAbandoned, dengxu.StateFailed: sayFailed,
}

// ownReasons are the reasons that the engine gives by itself; others are the
// words of whoever gave them.
var ownReasons = map[string]phrase{
	"no_check_in": sayNoCheckIn, "no_answer": sayNoAnswer, "missed_too_long": sayMissedTooLong,
	"call_timeout": sayCallTimeout, reasonDayEnd: sayDayEnd,
}

// The arguments of phrases that depend on the reader: times of day in the
// site's zone, and words inside words.
type (
	clock        int64   // ms, shown as a time of day
	lasting      int64   // ms, shown as m:ss or h:mm:ss
	plainSeconds int64   // ms, shown as seconds
	times        float64 // a factor, or how many times something counts
	list         []string
	brackets     string // a reason that somebody gave
)

// said is one phrase with what it is about; it may be an argument of another.
type said struct {
	phrase phrase
	args   []any
}

// story is what an explanation says: sentences, each of one phrase or more.
type story struct {
	zone      *time.Location
	now       int64
	sentences [][]said
}

// begin starts a sentence, add goes on with it.
func (s *story) begin(p phrase, args ...any) { s.sentences = append(s.sentences, []said{{p, args}}) }

func (s *story) add(p phrase, args ...any) {
	last := len(s.sentences) - 1
	s.sentences[last] = append(s.sentences[last], said{p, args})
}

// text is the story in every language, a sentence a line.
func (s *story) text() map[string]string {
	return s.inAll(func(language int) string {
		lines := make([]string, len(s.sentences))
		for i, sentence := range s.sentences {
			parts := make([]string, len(sentence))
			for j := range sentence {
				parts[j] = s.in(language, sentence[j])
			}
			lines[i] = strings.Join(parts, [...]string{"; ", "，"}[language]) + [...]string{".", "。"}[language]
		}
		return strings.Join(lines, "\n")
	})
}

// one is a single phrase in every language, as a sentence.
func (s *story) one(p said) map[string]string {
	single := story{zone: s.zone, now: s.now, sentences: [][]said{{p}}}
	return single.text()
}

func (s *story) inAll(text func(language int) string) map[string]string {
	all := make(map[string]string, len(languages))
	for i, name := range languages {
		all[name] = text(i)
	}
	return all
}

// in writes one phrase in one language.
func (s *story) in(language int, p said) string {
	args := make([]any, len(p.args))
	for i, arg := range p.args {
		args[i] = s.word(language, arg)
	}
	return fmt.Sprintf(phrases[p.phrase][language], args...)
}

func (s *story) word(language int, arg any) any {
	switch v := arg.(type) {
	case clock:
		return s.clock(int64(v))
	case lasting:
		return spanText(int64(v))
	case plainSeconds:
		return fmt.Sprintf("%g", seconds(int64(v)))
	case times:
		return fmt.Sprintf("%.4g", float64(v))
	case list:
		return strings.Join(v, [...]string{", ", "、"}[language])
	case brackets:
		if v == "" {
			return ""
		}
		if own, is := ownReasons[string(v)]; is {
			v = brackets(s.in(language, said{phrase: own}))
		}
		return [...]string{" (" + string(v) + ")", "（" + string(v) + "）"}[language]
	case said:
		return s.in(language, v)
	case []said:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = s.in(language, v[i])
		}
		return strings.Join(parts, [...]string{"; ", "；"}[language])
	default:
		return arg
	}
}

// clock is a time of day in the site's zone, with its date when that is not
// today's.
func (s *story) clock(ms int64) string {
	t := at(ms).In(s.zone)
	if t.Format(time.DateOnly) != at(s.now).In(s.zone).Format(time.DateOnly) {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format(time.TimeOnly)
}

// spanText is a length of time as 7:05 or 1:07:05, to the nearest second.
func spanText(ms int64) string {
	sign := ""
	if ms < 0 {
		sign, ms = "−", -ms
	}
	total := (ms + 500) / 1000
	if hours := total / 3600; hours > 0 {
		return fmt.Sprintf("%s%d:%02d:%02d", sign, hours, total/60%60, total%60)
	}
	return fmt.Sprintf("%s%d:%02d", sign, total/60, total%60)
}
