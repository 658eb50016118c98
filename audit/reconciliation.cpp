// jackpot-audit report reconciliation.
#include "audit/reconciliation.h"

#include <algorithm>
#include <map>

namespace jackpot::audit {
namespace {

using rules::Account;

// Goes through the records and hands out each pool's days as they end.
class Books {
public:
    Books(const ReportRequest& request, const std::vector<std::string>& pools,
          const DayEnded& ended)
        : request_{request}, ended_{ended}
    {
        for (const std::string& pool : pools) order_.push_back(&*days_.try_emplace(pool).first);
    }

    void startWith(const rules::State& state)
    {
        for (const rules::Pool& pool : state.pools)
            if (const auto found = days_.find(pool.config.id); found != days_.end())
                found->second.closing = {pool.meter, pool.reserve};
    }

    void add(const Payload& record)
    {
        const bool counts = request_.period.contains(record.timeMs());
        if (counts) turnTo(dayOf(record.timeMs(), request_.period.offsetMs));
        for (const storage::RecordedPool& pool : record.outcome().pools) {
            const auto found = days_.find(pool.pool);
            if (found == days_.end()) continue;
            Day& day = found->second;
            record.read([&] {
                if (counts) post(day, pool);
                day.closing = {pool.meter, pool.reserve};
                if (counts && day.computed() != day.closing && !day.firstBad)
                    day.firstBad = record.seq();
            });
        }
    }

    void finish()
    {
        if (!today_) return;
        for (auto* each : order_) ended_(each->first, each->second);
        today_.reset();
    }

private:
    void turnTo(std::int64_t day)
    {
        if (today_ == day) return;
        finish();
        today_ = day;
        for (auto* each : order_) each->second.begin(day, each->second.closing);
    }

    static void post(Day& day, const storage::RecordedPool& pool)
    {
        for (std::size_t i = 0; i < kLines.size(); ++i) {
            const Line& line = kLines.at(i);
            if (line.meter) day.moved.at(i).meter += pool.posted(line.cause, Account::Meter);
            // An award that is computed again may leave the players with less.
            if (line.cause == Cause::Award)
                day.moved.at(i).meter += pool.posted(Cause::Withdrawal, Account::Meter);
            if (line.reserve) day.moved.at(i).reserve += pool.posted(line.cause, Account::Reserve);
        }
        day.paidByHouse -= pool.posted(Cause::Award, Account::House) +
                           pool.posted(Cause::Withdrawal, Account::House);
    }

    const ReportRequest& request_;
    const DayEnded& ended_;
    std::map<std::string, Day, std::less<>> days_;
    std::vector<std::pair<const std::string, Day>*> order_;
    std::optional<std::int64_t> today_;
};

// CSV and JSON name what was returned, paid and taken from the reserve as positive amounts.
Money stated(const Line& line, const Amounts& amounts, bool meter)
{
    const Money amount = meter ? amounts.meter : amounts.reserve;
    const bool leaves = line.cause == Cause::Return || line.cause == Cause::Award;
    return leaves ? -amount : amount;
}

struct Field {
    std::string name;
    Money amount;
};

std::vector<Field> fieldsOf(const Day& day)
{
    std::vector<Field> fields{{"opening_meter", day.opening.meter},
                              {"opening_reserve", day.opening.reserve}};
    for (std::size_t i = 0; i < kLines.size(); ++i) {
        const Line& line = kLines.at(i);
        const std::string name{line.column};
        const bool both = line.meter && line.reserve && line.cause != Cause::FromReserve;
        if (both) {
            fields.push_back({name + "_meter", stated(line, day.moved.at(i), true)});
            fields.push_back({name + "_reserve", stated(line, day.moved.at(i), false)});
        } else {
            fields.push_back({name, stated(line, day.moved.at(i), line.meter)});
        }
    }
    fields.push_back({"closing_meter", day.closing.meter});
    fields.push_back({"closing_reserve", day.closing.reserve});
    fields.push_back({"paid_by_house", day.paidByHouse});
    return fields;
}

void printDay(const std::string& title, const Day& day, Output& out)
{
    TextTable table{1};
    table.add({title, "meter", "reserve"});
    table.add({"opening", toRead(day.opening.meter), toRead(day.opening.reserve)});
    for (std::size_t i = 0; i < kLines.size(); ++i)
        table.add({std::string{kLines.at(i).label},
                   kLines.at(i).meter ? toRead(day.moved.at(i).meter) : "",
                   kLines.at(i).reserve ? toRead(day.moved.at(i).reserve) : ""});
    const Amounts sum = day.computed();
    table.add({"= sum", toRead(sum.meter), toRead(sum.reserve)});
    table.add({"closing", toRead(day.closing.meter), toRead(day.closing.reserve)});
    out.line("");
    table.print(out, "");
    out.line("check: " + day.check() +
             "; paid by the house, not the pool: " + toRead(day.paidByHouse));
}

class Writer {
public:
    Writer(const ReportRequest& request, const JournalView& journal, Output& out)
        : request_{request}, out_{out}, json_{text_}
    {
        if (request.form == ReportForm::Text) printTitle(out, "Reconciliation", request, journal);
        if (request.form == ReportForm::Csv) {
            std::vector<std::string> names{"pool", "day"};
            for (const Field& field : fieldsOf({})) names.push_back(field.name);
            names.emplace_back("check");
            out.lines(csvRow(names));
        }
        if (request.form == ReportForm::Object) {
            beginReport(json_, "reconciliation", request, journal);
            json_.key("days");
            json_.beginArray();
        }
    }

    void add(const std::string& pool, const Day& day)
    {
        good_ = good_ && day.agrees();
        if (request_.form == ReportForm::Text) {
            printDay("Pool " + pool + ", " + dayText(day.day), day, out_);
            auto [total, isNew] = totals_.try_emplace(pool, Total{day, 1});
            if (!isNew) {
                total->second.sum.addDay(day);
                ++total->second.days;
            }
        } else if (request_.form == ReportForm::Csv) {
            std::vector<std::string> row{csvText(pool), dayText(day.day)};
            for (const Field& field : fieldsOf(day)) row.push_back(toExact(field.amount));
            row.push_back(day.check());
            out_.lines(csvRow(row));
        } else {
            json_.beginObject();
            json_.textField("pool", pool);
            json_.textField("day", dayText(day.day));
            for (const Field& field : fieldsOf(day)) json_.moneyField(field.name, field.amount);
            json_.textField("check", day.check());
            json_.endObject();
            out_.lines(text_);
            text_.clear();
        }
    }

    bool finish(const std::vector<std::string>& pools)
    {
        if (request_.form == ReportForm::Object) {
            json_.endArray();
            json_.endObject();
            out_.lines(text_ + "\n");
        }
        for (const std::string& pool : pools)
            if (const auto total = totals_.find(pool);
                total != totals_.end() && total->second.days > 1)
                printDay("Pool " + pool + ", all " + grouped(total->second.days) + " days",
                         total->second.sum, out_);
        if (request_.form == ReportForm::Text) {
            out_.line("");
            out_.line(good_ ? "Every day agrees to the last 1e-8 dollar."
                            : "NOT every day agrees: run jackpot-audit verify to learn more.");
        }
        return good_;
    }

private:
    struct Total {
        Day sum;
        std::uint64_t days;
    };
    const ReportRequest& request_;
    Output& out_;
    std::string text_;
    storage::JsonText json_;
    std::map<std::string, Total> totals_;
    bool good_ = true;
};

}  // namespace

void reconcile(JournalView& journal, const ReportRequest& request,
               const std::vector<std::string>& pools, const DayEnded& ended)
{
    Books books{request, pools, ended};
    const std::uint64_t from =
        request.period.hasFrom ? journal.firstNotBefore(request.period.fromMs) : journal.first();
    const std::uint64_t to =
        request.period.hasTo ? journal.firstNotBefore(request.period.toMs) : journal.end();
    // The books are opened with the amounts before the first record, from a snapshot or from the
    // beginning.
    const auto start = journal.startBefore(std::min(from, journal.end() - 1));
    books.startWith(start.state);
    Payload record;
    journal.forEach(start.seq, to, [&](std::uint64_t seq, std::string_view payload) {
        record.parse(seq, payload);
        books.add(record);
        return true;
    });
    books.finish();
}

bool reportReconciliation(JournalView& journal, const ReportRequest& request,
                          const std::vector<std::string>& pools, Output& out)
{
    Writer writer{request, journal, out};
    reconcile(journal, request, pools,
              [&](const std::string& pool, const Day& day) { writer.add(pool, day); });
    return writer.finish(pools);
}

}  // namespace jackpot::audit
