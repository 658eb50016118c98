// jackpot-audit report wins.
#include "audit/wins.h"

#include <algorithm>

#include "audit/describe.h"

namespace jackpot::audit {
namespace {

class Wins {
public:
    Wins(const ReportRequest& request, const std::vector<std::string>& pools) : request_{request}
    {
        for (const std::string& pool : pools) pools_.try_emplace(pool);
    }

    void add(const Payload& record)
    {
        const auto found = pools_.find(record.pool());
        if (found == pools_.end() || record.isRefused()) return;
        PoolWins& pool = found->second;
        const storage::RecordedOutcome& outcome = record.outcome();
        for (const auto& each : outcome.withdrawn) mark(pool, each, record, "withdrawn");
        if (const auto* withheld = record.commandAs<rules::WithholdAward>())
            mark(pool, withheld->award, record, "withheld");
        if (const auto* released = record.commandAs<rules::ReleaseAward>())
            mark(pool, released->award, record, "");
        if (const auto* paid = record.commandAs<rules::RecordPayment>(); paid && outcome.payment)
            mark(pool, paid->award, record, "paid " + toExact(outcome.payment->sum));
        if (!request_.period.contains(record.timeMs())) return;
        for (const storage::RecordedAward& award : outcome.awards) {
            WinList& list = award.isJackpot() ? pool.jackpots : pool.others;
            ++list.count;
            list.wins.push_back({record.seq(), record.timeMs(), award, {}, 0});
            if (list.wins.size() > request_.last) list.wins.pop_front();
        }
    }

    WinsOfPools take() { return std::move(pools_); }

private:
    // The latest award first: a corrected result can make the same award due again.
    static void mark(PoolWins& pool, const rules::AwardRef& ref, const Payload& record,
                     const std::string& status)
    {
        for (WinList* list : {&pool.jackpots, &pool.others}) {
            const auto win =
                std::find_if(list->wins.rbegin(), list->wins.rend(), [&](const Win& w) {
                    return static_cast<const rules::AwardRef&>(w.award) == ref &&
                           w.status != "withdrawn";
                });
            if (win == list->wins.rend()) continue;
            win->status = status;
            win->statusSeq = record.seq();
            return;
        }
    }

    const ReportRequest& request_;
    WinsOfPools pools_;
};

void printList(const std::string& title, const WinList& list, const ReportRequest& request,
               Output& out)
{
    out.line("");
    out.line(title + ": " +
             (list.count == 0 ? "none"
                              : (list.count > list.wins.size()
                                     ? "the last " + grouped(list.wins.size()) + " of "
                                     : "") +
                                    grouped(list.count)));
    for (const Win& win : list.wins) {
        out.line("  " + readableTime(win.timeMs, request.period.offsetMs) + "  record " +
                 std::to_string(win.seq) + "  " + awardInWords(win.award) +
                 (win.status.empty() ? "" : "; ") + statusInWords(win));
        out.line("      " + win.award.inWords());
    }
}

void writeJson(storage::JsonText& json, const std::string& pool, const WinList& list)
{
    for (const Win& win : list.wins) {
        const storage::RecordedAward& award = win.award;
        json.beginObject();
        json.textField("pool", pool);
        json.textField("form", award.form());
        json.numberField("seq", static_cast<std::int64_t>(win.seq));
        json.textField("utc", isoTime(win.timeMs));
        json.textField("table", award.table);
        json.numberField("round", award.round);
        json.numberField("seat", award.seat);
        json.textField("tier", idOf(award.tier));
        json.moneyField("amount", award.amount);
        if (!award.playerCard.empty()) json.textField("player_card", award.playerCard);
        json.textField("rule", award.rule);
        json.textField("arithmetic", award.inWords());
        if (!win.status.empty()) {
            json.textField("status", win.status);
            json.numberField("status_seq", static_cast<std::int64_t>(win.statusSeq));
        }
        json.endObject();
    }
}

void writeCsv(Output& out, const std::string& pool, const WinList& list)
{
    for (const Win& win : list.wins) {
        const storage::RecordedAward& award = win.award;
        out.lines(csvRow({csvText(pool), std::string{award.form()}, std::to_string(win.seq),
                          isoTime(win.timeMs), csvText(award.table), std::to_string(award.round),
                          std::to_string(award.seat), std::string{idOf(award.tier)},
                          toExact(award.amount), csvText(award.rule), award.inWords(), win.status,
                          win.status.empty() ? "" : std::to_string(win.statusSeq)}));
    }
}

}  // namespace

std::string statusInWords(const Win& win)
{
    if (win.status.empty()) return "";
    std::string words = win.status == "withdrawn" ? "WITHDRAWN" : "WITHHELD";
    if (win.status.starts_with("paid "))
        words = "paid " + toRead(storage::moneyIn(std::string_view{win.status}.substr(5)));
    return words + " (record " + std::to_string(win.statusSeq) + ")";
}

WinsOfPools collectWins(JournalView& journal, const ReportRequest& request,
                        const std::vector<std::string>& pools)
{
    Wins wins{request, pools};
    Payload record;
    const std::uint64_t from =
        request.period.hasFrom ? journal.firstNotBefore(request.period.fromMs) : journal.first();
    // To the end of the journal: what was withdrawn or paid later should be seen.
    journal.forEach(from, journal.end(), [&](std::uint64_t seq, std::string_view payload) {
        record.parse(seq, payload);
        wins.add(record);
        return true;
    });
    return wins.take();
}

bool reportWins(JournalView& journal, const ReportRequest& request,
                const std::vector<std::string>& pools, Output& out)
{
    const WinsOfPools wins = collectWins(journal, request, pools);
    if (request.form == ReportForm::Object) {
        std::string text;
        storage::JsonText json{text};
        beginReport(json, "wins", request, journal);
        json.key("wins");
        json.beginArray();
        for (const std::string& pool : pools) {
            writeJson(json, pool, wins.at(pool).jackpots);
            writeJson(json, pool, wins.at(pool).others);
        }
        json.endArray();
        json.endObject();
        out.lines(text + "\n");
        return true;
    }
    if (request.form == ReportForm::Csv) {
        out.write(
            "pool,form,seq,utc,table,round,seat,tier,amount,rule,arithmetic,status,status_seq\r\n");
        for (const std::string& pool : pools) {
            writeCsv(out, pool, wins.at(pool).jackpots);
            writeCsv(out, pool, wins.at(pool).others);
        }
        return true;
    }
    printTitle(out, "Wins", request, journal);
    for (const std::string& pool : pools) {
        printList("Pool " + pool + ", jackpots", wins.at(pool).jackpots, request, out);
        printList("Pool " + pool + ", other awards", wins.at(pool).others, request, out);
    }
    return true;
}

}  // namespace jackpot::audit
