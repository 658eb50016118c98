// jackpot-audit report differences.
#include "audit/differences.h"

#include <algorithm>
#include <ranges>
#include <tuple>

#include "audit/describe.h"

namespace jackpot::audit {
namespace {

// BJ 16.21.2, UTH 11.15: what is above it is listed one by one.
constexpr Money kListedAbove = Money::ofDollars(1'000);

// Follows the payments of each award, and what is due of it, through a journal.
class PaidAwards {
public:
    void add(const Payload& record)
    {
        if (record.isRefused()) return;
        const storage::RecordedOutcome& outcome = record.outcome();
        for (const storage::RecordedWithdrawal& each : outcome.withdrawn)
            setDue(record, each, Money{});
        for (const storage::RecordedAward& each : outcome.awards) setDue(record, each, each.amount);
        if (const auto* command = record.commandAs<rules::RecordPayment>()) pay(record, *command);
    }
    [[nodiscard]] auto all() const { return std::views::values(awards_); }

private:
    using Key = std::tuple<std::string, std::int64_t, std::int64_t, rules::Tier>;
    static Key keyOf(const rules::AwardRef& award)
    {
        return {award.table, award.round, award.seat, award.tier};
    }

    void setDue(const Payload& record, const rules::AwardRef& award, Money due)
    {
        const auto found = awards_.find(keyOf(award));
        if (found == awards_.end()) return;
        found->second.due = due;
        found->second.seq = record.seq();
        found->second.timeMs = record.timeMs();
        record.read([&] { (void)found->second.amount(); });
    }

    void pay(const Payload& record, const rules::RecordPayment& command)
    {
        const auto& payment = record.outcome().payment;
        if (!payment) record.fail("it has no payment");
        if (command.paid != payment->paid) record.fail("its two amounts paid differ");
        rules::AwardRef award = command.award;
        if (command.withoutAward) award.tier = rules::Tier::None;
        Difference& found = awards_[keyOf(award)];
        // Where there is no award, the record's sum is that of one payment.
        record.read(
            [&] { found.paid = command.withoutAward ? found.paid + payment->paid : payment->sum; });
        found.seq = record.seq();
        found.timeMs = record.timeMs();
        found.pool = record.pool();
        found.award = award;
        found.due = payment->due;
        found.how = command.how;
        found.by = command.by;
        record.read([&] { (void)found.amount(); });
    }

    std::map<Key, Difference> awards_;
};

void printText(const std::vector<Difference>& listed, const PaymentTotals& totals,
               const ReportRequest& request, Output& out)
{
    out.line("");
    out.line(
        "Awards whose payments differ from what is due by more than $1,000 [BJ 16.21.2, UTH "
        "11.15]: " +
        (listed.empty() ? "none" : grouped(listed.size())));
    for (const Difference& each : listed) {
        out.line("  " + readableTime(each.timeMs, request.period.offsetMs) + "  record " +
                 std::to_string(each.seq) + "  pool " + each.pool + ", " + awardOf(each.award));
        out.line("      due " + toRead(each.due) + ", paid " + toRead(each.paid) + ", " +
                 (each.amount().isNegative() ? "underpaid by " + toRead(-each.amount())
                                             : "overpaid by " + toRead(each.amount())) +
                 (each.how.empty() ? "" : "; " + each.how) + "; by " + each.people());
    }
    out.line("");
    TextTable table{1};
    table.add(
        {"Payments recorded", grouped(totals.payments.count), toRead(totals.payments.amount)});
    table.add({"  as due", grouped(totals.exact), ""});
    for (const NamedSum& each : kSums) {
        const PaymentSum& sum = totals.*each.sum;
        table.add({"  " + std::string{each.label}, grouped(sum.count), toRead(sum.amount)});
    }
    table.print(out, "");
}

void writeCsv(const std::vector<Difference>& listed, const PaymentTotals& totals, Output& out)
{
    out.write("what,pool,seq,utc,table,round,seat,tier,due,paid,difference,count,how,by\r\n");
    for (const Difference& each : listed) {
        const rules::AwardRef& award = each.award;
        out.lines(
            csvRow({"award", csvText(each.pool), std::to_string(each.seq), isoTime(each.timeMs),
                    csvText(award.table), std::to_string(award.round), std::to_string(award.seat),
                    std::string{idOf(award.tier)}, toExact(each.due), toExact(each.paid),
                    toExact(each.amount()), "1", csvText(each.how), csvText(each.people())}));
    }
    const auto total = [&](std::string_view name, const std::string& paid,
                           const std::string& difference, std::uint64_t count) {
        out.lines(csvRow({std::string{name}, "", "", "", "", "", "", "", "", paid, difference,
                          std::to_string(count), "", ""}));
    };
    total("payments", toExact(totals.payments.amount), "", totals.payments.count);
    total("as_due", "", toExact(Money{}), totals.exact);
    for (const NamedSum& each : kSums)
        total(each.name, "", toExact((totals.*each.sum).amount), (totals.*each.sum).count);
}

void writeJson(storage::JsonText& json, const std::vector<Difference>& listed,
               const PaymentTotals& totals)
{
    json.key("differences");
    json.beginArray();
    for (const Difference& each : listed) {
        const rules::AwardRef& award = each.award;
        json.beginObject();
        json.textField("pool", each.pool);
        json.numberField("seq", static_cast<std::int64_t>(each.seq));
        json.textField("utc", isoTime(each.timeMs));
        json.textField("table", award.table);
        json.numberField("round", award.round);
        json.numberField("seat", award.seat);
        json.textField("tier", idOf(award.tier));
        json.moneyField("due", each.due);
        json.moneyField("paid", each.paid);
        json.moneyField("difference", each.amount());
        json.textField("how", each.how);
        json.key("by");
        json.beginArray();
        for (const std::string& person : each.by) json.text(person);
        json.endArray();
        json.endObject();
    }
    json.endArray();
    const auto sum = [&](std::string_view name, const PaymentSum& each) {
        json.key(name);
        json.beginObject();
        json.numberField("count", static_cast<std::int64_t>(each.count));
        json.moneyField("amount", each.amount);
        json.endObject();
    };
    sum("payments", totals.payments);
    json.numberField("as_due", static_cast<std::int64_t>(totals.exact));
    for (const NamedSum& each : kSums) sum(each.name, totals.*each.sum);
    json.endObject();
}

}  // namespace

std::string monthOf(TimeMs timeMs, const Period& period)
{
    const std::string day = dayText(dayOf(timeMs, period.offsetMs));
    return day.substr(0, day.rfind('-'));
}

std::string Difference::people() const
{
    std::string text;
    for (const std::string& each : by) text += (text.empty() ? "" : " and ") + each;
    return text;
}

Differences collectDifferences(JournalView& journal, const ReportRequest& request,
                               const std::vector<std::string>& pools)
{
    Differences found;
    PaidAwards awards;
    Payload record;
    const auto isWanted = [&](std::string_view pool, TimeMs timeMs) {
        return request.period.contains(timeMs) && std::ranges::find(pools, pool) != pools.end();
    };
    const auto forTotals = [&](TimeMs timeMs, auto&& change) {
        change(found.totals);
        change(found.months[monthOf(timeMs, request.period)]);
    };
    const std::uint64_t to =
        request.period.hasTo ? journal.firstNotBefore(request.period.toMs) : journal.end();
    // From the beginning: an award can be withdrawn long after it was paid.
    journal.forEach(journal.first(), to, [&](std::uint64_t seq, std::string_view payload) {
        record.parse(seq, payload);
        awards.add(record);
        if (const auto& payment = record.outcome().payment;
            payment && isWanted(record.pool(), record.timeMs()))
            forTotals(record.timeMs(),
                      [&](PaymentTotals& totals) { totals.payments.add(payment->paid); });
        return true;
    });
    for (const Difference& each : awards.all()) {
        if (!isWanted(each.pool, each.timeMs)) continue;
        const Money difference = each.amount();
        const bool isListed = difference > kListedAbove || difference < -kListedAbove;
        forTotals(each.timeMs, [&](PaymentTotals& totals) { totals.add(difference, isListed); });
        if (isListed) found.listed.push_back(each);
    }
    return found;
}

bool reportDifferences(JournalView& journal, const ReportRequest& request,
                       const std::vector<std::string>& pools, Output& out)
{
    const Differences found = collectDifferences(journal, request, pools);
    const auto& listed = found.listed;
    const PaymentTotals& totals = found.totals;
    if (request.form == ReportForm::Csv) {
        writeCsv(listed, totals, out);
    } else if (request.form == ReportForm::Object) {
        std::string text;
        storage::JsonText json{text};
        beginReport(json, "differences", request, journal);
        writeJson(json, listed, totals);
        out.lines(text + "\n");
    } else {
        printTitle(out, "Differences between payments and what was due", request, journal);
        printText(listed, totals, request, out);
    }
    return true;
}

}  // namespace jackpot::audit
