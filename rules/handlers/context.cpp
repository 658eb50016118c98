#include "rules/handlers/context.h"

#include <algorithm>

namespace jackpot::rules {

Refused unknownTable(const std::string& id)
{
    return refuse(RefusalCode::UnknownTable, "UTH 15.1.2.2",
                  "table \"" + id + "\" is linked to no pool");
}

Refused unknownPool(const std::string& id)
{
    return refuse(RefusalCode::UnknownPool, "", "there is no pool \"" + id + "\"");
}

Refused flip(bool& flag, bool to, RefusalCode otherwise, std::string detail)
{
    if (flag == to) return refuse(otherwise, "", std::move(detail));
    flag = to;
    return kAccepted;
}

// Keeps every total where no movement still under way can leave 64 bits.
Refused checkRoom(const Pool& pool, Money moved)
{
    const Totals& t = pool.totals;
    for (const Money total :
         {pool.meter, pool.reserve, t.seeded, t.contributed, t.returned, t.fromReserve,
          t.paidFromPool, t.paidByHouse, t.adjusted, -t.adjusted})
        if (total > kMaxTotal - moved)
            return refuse(RefusalCode::OutOfRange, "",
                          "pool " + pool.config.id + " has reached the limit of " +
                              toRead(kMaxTotal) + " in its books: close it and open another");
    return kAccepted;
}

Refused checkCurrent(const Context& context, const Table& table, std::int64_t number)
{
    const Round& round = table.current;
    if (!round.opened)
        return refuse(RefusalCode::NoOpenRound, "",
                      "table " + table.config.id + " has opened no round yet");
    if (round.number != number) return wrongRound(table, number);
    return checkNotVoid(context, round);
}

Refused wrongRound(const Table& table, std::int64_t number)
{
    return refuse(RefusalCode::WrongRound, "",
                  "round " + std::to_string(number) + " of table " + table.config.id +
                      ": the current round is " + std::to_string(table.current.number));
}

Refused checkNotVoid(const Context& context, const Round& round)
{
    if (!round.voided) return kAccepted;
    return refuse(RefusalCode::RoundVoided, context.rule("BJ 16.8", "UTH 15.3.1"),
                  "round " + std::to_string(round.number) + " is void: its wagers were returned");
}

Refused checkTwoPeople(const std::vector<std::string>& by, const std::string& reason)
{
    if (differentPeople(by) < 2)
        return refuse(RefusalCode::NeedsTwoPeople, "", "this needs two different people");
    if (reason.empty()) return refuse(RefusalCode::NeedsReason, "", "this needs a reason");
    return kAccepted;
}

}  // namespace jackpot::rules
