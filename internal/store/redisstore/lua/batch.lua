-- A batch is an array of parts, as batch.go writes it; false or an empty array
-- where it has none.

local B_SITE, B_OP, B_EXPECT, B_DOCS, B_TOKENS, B_TALLIES, B_MARKS, B_EVENTS, B_RANKS, B_PICK = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

-- A written token. STAMP is version, flags and state, packed; BEFORE the version
-- that is replaced. LANE is the line and the lane; PLACE, DUE, SCALE and FLOOR
-- may be symbolic; SERIES is {field, day, first, last, at} or false; PERSON is
-- its entry there or false. MORE is false where all in it are as in PLAIN; CALL
-- -1 is the next.
local ID, STAMP, FLAGS, STATE_, PLACE, LINE, LANE, COUNTER, BUSINESS = 1, 2, 3, 4, 5, 6, 7, 8, 9
local DUE_, SERIES, REST, PERSON, BEFORE, MORE = 10, 11, 12, 13, 14, 15
local ARRIVAL, SEQ, CALL, NUMBER, FACTOR, SCALE, FLOOR, PENALTY, ARCHIVED = 1, 2, 3, 4, 5, 6, 7, 8, 9
local PLAIN = {0, 0, 0, 0, 0, 0, 0, 0, false}
