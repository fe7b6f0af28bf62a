package redisstore

import (
	"math/rand/v2"

	"github.com/dengxu/dengxu/internal/order"
)

// Groups of rules and of lanes that a rule does not know.
var caseGroups = []string{"", "g", "gg", "v", "\xff"}

// Shares of which some divide others, and some have nothing in common.
var caseShares = []int{1, 1, 2, 3, 4, 5, 7, 19, 20}

// groupedSpec makes a line strict or ratio.
func groupedSpec(r *rand.Rand, spec *order.Line, classes []string, unit int64) {
	spec.Rule = order.Rule{Discipline: order.Ratio}
	for _, i := range r.Perm(len(caseGroups))[:r.IntN(len(caseGroups)+1)] {
		spec.Rule.Groups = append(spec.Rule.Groups, order.Group{
			Name: caseGroups[i], Rank: r.IntN(4) - 1, Share: caseShares[r.IntN(len(caseShares))],
		})
	}
	if r.IntN(2) == 0 {
		spec.Rule.Discipline = order.Strict
		spec.Rule.Escalate = max(0, r.Int64N(7)*unit+r.Int64N(3)-1)
		return
	}
	round, err := order.Shares(spec.Rule.Groups)
	if err != nil {
		panic(err)
	}
	spec.Debts = randomDebts(r, classes, round)
}

// randomDebts are often such that the turns of groups meet, and sometimes more
// than shares of today allow.
func randomDebts(r *rand.Rand, classes []string, round int64) order.Debts {
	debts := order.Debts{}
	for _, class := range classes {
		debts[class] = map[string]int64{}
		for _, group := range caseGroups {
			switch r.IntN(6) {
			case 0:
			case 1:
				debts[class][group] = r.Int64N(round + 1)
			case 2:
				debts[class][group] = 2 * round
			default:
				debts[class][group] = round / int64(caseShares[r.IntN(len(caseShares))])
			}
		}
	}
	return debts
}
