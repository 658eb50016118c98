// Payments, and awards that are withheld and released.
#include "rules/awards.h"
#include "rules/handlers/handlers.h"
#include "rules/win_update.h"

namespace jackpot::rules {
namespace {

Refused noSuchAward(const AwardRef& ref)
{
    return refuse(RefusalCode::NoSuchAward, "",
                  seatText(ref.seat) + " has no award " + std::string{idOf(ref.tier)} +
                      " in round " + std::to_string(ref.round) + " of table " + ref.table);
}

// A jackpot that is due is final once it is paid or withheld, and those of its group with it.
void finishIfOpen(Context& context, const Table& table, const AwardRecord& record)
{
    if (!isJackpot(record.tier) || record.state != AwardRecord::State::Due) return;
    Pool& pool = context.pool();
    const auto win = std::ranges::find_if(pool.wins, [&](const Win& each) {
        return each.round == record.round && each.table == context.indexOf(table);
    });
    if (win == pool.wins.end()) return;
    makeFinal(context, win->place);
    planNextLook(pool);
}

// For both ways: an award that is due, and two people.
template <class AwardCommand>
Refused findDue(Context& context, const AwardCommand& command, Table*& table, AwardRecord*& record)
{
    const AwardRef& ref = command.award;
    table = context.findTable(ref.table);
    if (!table) return unknownTable(ref.table);
    record = findAward(*table, ref.round, ref.seat, ref.tier);
    if (!record) return noSuchAward(ref);
    if (auto refused = checkTwoPeople(command.by, context.rule("BJ 18.1", "UTH 13.19")))
        return refused;
    if (record->state != AwardRecord::State::Due)
        return refuse(RefusalCode::AwardNotDue, "", "the award is not due");
    return kAccepted;
}

}  // namespace

Refused handle(Context& context, const WithholdAward& command)
{
    Table* table = nullptr;
    AwardRecord* record = nullptr;
    if (auto refused = findDue(context, command, table, record)) return refused;
    if (record->payments > 0) return refuse(RefusalCode::AwardPaid, "", "the award was paid");
    if (record->withheld)
        return refuse(RefusalCode::AwardWithheld, context.rule("BJ 18.1", "UTH 13.19"),
                      "the award is withheld");
    record->withheld = true;
    finishIfOpen(context, *table, *record);
    return kAccepted;
}

Refused handle(Context& context, const ReleaseAward& command)
{
    Table* table = nullptr;
    AwardRecord* record = nullptr;
    if (auto refused = findDue(context, command, table, record)) return refused;
    if (!record->withheld) return refuse(RefusalCode::NotWithheld, "", "the award is not withheld");
    record->withheld = false;
    return kAccepted;
}

Refused handle(Context& context, const RecordPayment& command)
{
    const AwardRef& ref = command.award;
    Table* table = context.findTable(ref.table);
    if (!table) return unknownTable(ref.table);
    if (auto refused = checkSupervisor(command.by, context.rule("BJ 16.19", "UTH 11.12")))
        return refused;
    AwardRecord none;
    AwardRecord* record = &none;
    if (!command.withoutAward) {
        record = findAward(*table, ref.round, ref.seat, ref.tier);
        if (!record) return noSuchAward(ref);
        if (!record->wasDue) return refuse(RefusalCode::AwardNotDue, "", "the award was never due");
        if (record->withheld)
            return refuse(RefusalCode::AwardWithheld, context.rule("BJ 18.1", "UTH 13.19"),
                          "the award is withheld");
    }
    const auto isLarge = [](Money amount, Money limit) {
        return amount > limit || amount < -limit;
    };
    if (!command.paid.isWholeCents() || isLarge(command.paid, kMaxAmount) ||
        isLarge(record->paid + command.paid, kMaxTotal))
        return refuse(RefusalCode::OutOfRange, "",
                      "a payment is a number of whole cents, at most " + toRead(kMaxAmount) +
                          ", and all of an award at most " + toRead(kMaxTotal));

    record->paid += command.paid;
    ++record->payments;
    context.out.payment = Payment{record->due(), command.paid, record->paid};
    finishIfOpen(context, *table, *record);
    return kAccepted;
}

}  // namespace jackpot::rules
