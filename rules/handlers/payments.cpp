// Payments and withheld awards.
#include "rules/handlers/handlers.h"

namespace jackpot::rules {
namespace {

Refused findDue(Context& context, const AwardRef& ref, DueAward*& award)
{
    Table* table = context.findTable(ref.table);
    if (!table) return unknownTable(ref.table);
    const auto search = [&](std::vector<DueAward>& awards) {
        for (DueAward& each : awards)
            if (each.round == ref.round && each.seat == ref.seat && each.tier == ref.tier)
                award = &each;
    };
    search(table->jackpotsDue);
    if (Round* round = table->findRound(ref.round)) search(round->due);
    if (!award)
        return refuse(RefusalCode::NoSuchAward, "",
                      "no award " + std::string{idOf(ref.tier)} + " is due to " +
                          seatText(ref.seat) + " in round " + std::to_string(ref.round) +
                          " of table " + ref.table);
    if (award->status == DueAward::Status::Withheld)
        return refuse(RefusalCode::AwardWithheld, context.rule("BJ 18.1", "UTH 13.19"),
                      "the award is withheld");
    if (award->status == DueAward::Status::Paid)
        return refuse(RefusalCode::AwardPaid, "", "the award was paid");
    return kAccepted;
}

}  // namespace

Refused handle(Context& context, const WithholdAward& command)
{
    DueAward* award = nullptr;
    if (auto refused = findDue(context, command.award, award)) return refused;
    if (auto refused = checkTwoPeople(command.by, command.reason)) return refused;
    award->status = DueAward::Status::Withheld;
    return kAccepted;
}

Refused handle(Context& context, const RecordPayment& command)
{
    DueAward* award = nullptr;
    if (auto refused = findDue(context, command.award, award)) return refused;
    if (command.by.empty())
        return refuse(RefusalCode::NeedsSupervisor, context.rule("BJ 16.19", "UTH 11.12"),
                      "who paid or verified the payment is missing");
    if (command.paid.isNegative() || command.paid > kMaxAmount)
        return refuse(RefusalCode::OutOfRange, "",
                      "a payment is between $0.00 and " + toRead(kMaxAmount));

    context.out.payment = Payment{award->amount, command.paid};
    award->status = DueAward::Status::Paid;
    std::erase_if(context.findTable(command.award.table)->jackpotsDue,
                  [](const DueAward& each) { return each.status == DueAward::Status::Paid; });
    return kAccepted;
}

}  // namespace jackpot::rules
