#include "rules/handlers/context.h"

#include <algorithm>

#include "rules/awards.h"

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

Refused checkOpen(const Context& context, const Table& table, std::int64_t number)
{
    const Round& round = table.current;
    if (!round.opened)
        return refuse(RefusalCode::NoOpenRound, "",
                      "table " + table.config.id + " has opened no round yet");
    if (round.number != number) return wrongRound(table, number);
    if (auto refused = checkNotVoid(context, round)) return refused;
    if (round.closed)
        return refuse(RefusalCode::RoundClosed, context.rule("BJ 16.8", "UTH 11.1"),
                      "round " + std::to_string(number) + " is closed");
    return kAccepted;
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

Refused checkSupervisor(const People& by, std::string_view rule)
{
    if (differentPeople(by) >= 1) return kAccepted;
    return refuse(RefusalCode::NeedsSupervisor, rule, "a supervisor's name is missing");
}

Refused checkTwoPeople(const People& by, std::string_view rule)
{
    if (differentPeople(by) >= 2) return kAccepted;
    return refuse(RefusalCode::NeedsTwoPeople, rule, "this needs two different people");
}

bool needsTwoPeople(const Table& table, const Round& round, std::optional<std::int64_t> seat)
{
    return round.hasOpenWin() || isPaidOrWithheld(table, round.number, seat);
}

}  // namespace jackpot::rules
