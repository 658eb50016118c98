// jackpot-audit report differences.
#include "audit/differences.h"

#include <algorithm>

#include "audit/describe.h"

namespace jackpot::audit {
namespace {

// BJ 16.21.2, UTH 11.15: what is above it is listed one by one.
constexpr Money kListedAbove = Money::ofDollars(1'000);

std::optional<Difference> paymentOf(const Payload& record)
{
    const auto* const command = record.commandAs<rules::RecordPayment>();
    if (!command || record.isRefused()) return std::nullopt;
    const auto& payment = record.outcome().payment;
    if (!payment) record.fail("it has no payment");
    if (command->paid != payment->paid) record.fail("its two amounts paid differ");
    Difference found{record.seq(), record.timeMs(), std::string{record.pool()}, *command,
                     payment->due};
    record.read([&] { (void)found.amount(); });
    return found;
}

void printText(const std::vector<Difference>& listed, const PaymentTotals& totals,
               const ReportRequest& request, Output& out)
{
    out.line("");
    out.line(
        "Payments that differ from what was due by more than $1,000 [BJ 16.21.2, UTH 11.15]: " +
        (listed.empty() ? "none" : grouped(listed.size())));
    for (const Difference& each : listed) {
        const rules::RecordPayment& payment = each.payment;
        out.line("  " + readableTime(each.timeMs, request.period.offsetMs) + "  record " +
                 std::to_string(each.seq) + "  pool " + each.pool + ", " + awardOf(payment.award));
        out.line("      due " + toRead(each.due) + ", paid " + toRead(payment.paid) + ", " +
                 (each.amount().isNegative() ? "underpaid by " + toRead(-each.amount())
                                             : "overpaid by " + toRead(each.amount())) +
                 (payment.how.empty() ? "" : "; " + payment.how) + "; by " + payment.by);
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
        const rules::AwardRef& award = each.payment.award;
        out.lines(csvRow({"payment", csvText(each.pool), std::to_string(each.seq),
                          isoTime(each.timeMs), csvText(award.table), std::to_string(award.round),
                          std::to_string(award.seat), std::string{idOf(award.tier)},
                          toExact(each.due), toExact(each.payment.paid), toExact(each.amount()),
                          "1", csvText(each.payment.how), csvText(each.payment.by)}));
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
        const rules::AwardRef& award = each.payment.award;
        json.beginObject();
        json.textField("pool", each.pool);
        json.numberField("seq", static_cast<std::int64_t>(each.seq));
        json.textField("utc", isoTime(each.timeMs));
        json.textField("table", award.table);
        json.numberField("round", award.round);
        json.numberField("seat", award.seat);
        json.textField("tier", idOf(award.tier));
        json.moneyField("due", each.due);
        json.moneyField("paid", each.payment.paid);
        json.moneyField("difference", each.amount());
        json.textField("how", each.payment.how);
        json.textField("by", each.payment.by);
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

Differences collectDifferences(JournalView& journal, const ReportRequest& request,
                               const std::vector<std::string>& pools)
{
    Differences found;
    Payload record;
    const std::uint64_t from =
        request.period.hasFrom ? journal.firstNotBefore(request.period.fromMs) : journal.first();
    const std::uint64_t to =
        request.period.hasTo ? journal.firstNotBefore(request.period.toMs) : journal.end();
    journal.forEach(from, to, [&](std::uint64_t seq, std::string_view payload) {
        record.parse(seq, payload);
        auto payment = paymentOf(record);
        if (!payment || std::ranges::find(pools, payment->pool) == pools.end()) return true;
        const Money difference = payment->amount();
        const bool isListed = difference > kListedAbove || difference < -kListedAbove;
        for (PaymentTotals* totals :
             {&found.totals, &found.months[monthOf(payment->timeMs, request.period)]}) {
            totals->payments.add(payment->payment.paid);
            totals->add(difference, isListed);
        }
        if (isListed) found.listed.push_back(std::move(*payment));
        return true;
    });
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
