#include "audit/page.h"

#include <algorithm>
#include <cctype>
#include <concepts>
#include <limits>

#include "audit/chart.h"
#include "audit/describe.h"
#include "audit/html.h"
#include "audit/page_content.h"
#include "audit/page_style.h"
#include "rules/explain.h"

namespace jackpot::audit {
namespace {

// Events in the table beside a chart; the chart has them all.
constexpr std::size_t kEventsListed = 50;

void moneyCell(Html& html, Money amount)
{
    html.tags("<td class=\"n\">").money(amount).tags("</td>");
}

void countCell(Html& html, std::uint64_t count)
{
    html.tags("<td class=\"n\">").text(grouped(count)).tags("</td>");
}

void numberCell(Html& html, std::integral auto number)
{
    html.tags("<td class=\"n\">").text(std::to_string(number)).tags("</td>");
}

void textCell(Html& html, std::string_view text) { html.tags("<td>").quoted(text).tags("</td>"); }

void longTextCell(Html& html, std::string_view text)
{
    html.tags("<td class=\"w\">").quoted(text).tags("</td>");
}

struct Column {
    std::string_view name;
    bool figures = false;
};

void head(Html& html, std::initializer_list<Column> columns)
{
    html.tags("<thead><tr>");
    for (const Column& column : columns) {
        if (column.figures)
            html.tags("<th scope=\"col\" class=\"n\">");
        else
            html.tags("<th scope=\"col\">");
        html.text(column.name).tags("</th>");
    }
    html.tags("</tr></thead>\n");
}

void row(Html& html, std::string_view name, std::string_view value)
{
    html.tags("<tr><th scope=\"row\">").text(name).tags("</th><td>").quoted(value);
    html.tags("</td></tr>\n");
}

// Whether the part is there; else says why not.
bool isThere(Html& html, const std::string& why)
{
    if (why.empty()) return true;
    html.tags("<p class=\"bad\"><strong>This part cannot be shown:</strong> ").quoted(why);
    html.tags("</p>\n");
    return false;
}

class Page {
public:
    Page(JournalView* journal, const Result<storage::Verified, storage::Fault>& verified,
         const PageRequest& request, Output& out)
        : journal_{journal}, verified_{verified}, request_{request}, out_{out}
    {}

    bool write()
    {
        PageContent content;
        if (journal_) content = collectContent(*journal_, request_, static_cast<bool>(verified_));
        writeTop();
        writeVerification();
        if (journal_) {
            writeCheckpoint();
            guarded("pools", "Pools", [&] { writePools(content); });
            guarded("awards", "Awards", [&] { writeAwards(content); });
            guarded("reconciliation", "Reconciliation", [&] { writeReconciliation(content); });
            guarded("differences", "Differences", [&] { writeDifferences(content); });
            guarded("changes", "Changes", [&] { writeIncidents(content); });
        }
        writeHowTo();
        html_.tags("</main>\n</body>\n</html>\n");
        out_.write(buffer_.take());
        return verified_ && agrees_;
    }

private:
    // An altered journal can hold amounts that cannot be computed with: then the section shows only
    // this fault, not a part of its rows.
    template <class Work>
    void guarded(std::string_view id, std::string_view title, Work&& work)
    {
        out_.write(buffer_.take());
        const std::string why = tryTo(static_cast<bool>(verified_), work);
        if (why.empty()) return;
        (void)buffer_.take();
        html_.tags("<section id=\"").text(id).tags("\">\n<h2>").text(title).tags("</h2>\n");
        (void)isThere(html_, why);
        html_.tags("</section>\n");
    }

    [[nodiscard]] const Period& period() const { return request_.report.period; }

    void timeCell(TimeMs timeMs)
    {
        html_.tags("<td class=\"t\">").text(readableTime(timeMs, period().offsetMs)).tags("</td>");
    }

    void writeTop()
    {
        const std::string name =
            journal_ ? journal_->checkpoint().origin : std::string{"an unreadable journal"};
        html_.tags(kPageHead).text("Jackpot report: " + name).tags("</title>\n</head>\n<body>\n");
        html_.tags("<header>\n<h1>Jackpot report: ").quoted(name).tags("</h1>\n<p>");
        std::string scope = period().inWords();
        if (!scope.empty()) scope.front() = static_cast<char>(std::toupper(scope.front()));
        html_.text(scope).tags("; ");
        if (request_.report.pool.empty())
            html_.tags("all pools");
        else
            html_.tags("pool ").quoted(request_.report.pool).tags(" alone");
        html_.tags(".</p>\n");
        if (journal_) {
            html_.tags("<p class=\"soft\">Made from records ").text(grouped(journal_->first()));
            html_.tags(" to ").text(grouped(journal_->end() - 1));
            html_.tags(", as of the checkpoint of size ").text(grouped(journal_->end()));
            html_.tags(", root <code>").text(journal_->checkpoint().root.base64());
            html_.tags("</code>. Times are ").text(period().zone()).tags(".</p>\n");
        }
        writeBanner();
        html_.tags(
            R"(<nav aria-label="Contents"><ul><li><a href="#verification">Verification</a></li>)");
        if (journal_)
            html_.tags(
                R"(<li><a href="#checkpoint">Checkpoint</a></li><li><a href="#pools">Pools</a></li>)"
                R"(<li><a href="#awards">Awards</a></li><li><a href="#reconciliation">Reconciliation</a></li>)"
                R"(<li><a href="#differences">Differences</a></li><li><a href="#changes">Changes</a></li>)");
        html_.tags(
            "<li><a href=\"#yourself\">Verify it "
            "yourself</a></li></ul></nav>\n</header>\n<main>\n");
    }

    void writeBanner()
    {
        if (verified_) {
            html_.tags(
                "<div class=\"banner good\"><p>The journal verifies.</p><p>Every signature is "
                "good, and every outcome was computed again and is the same to the last 1e-8 "
                "dollar.</p></div>\n");
            return;
        }
        const storage::Fault& fault = verified_.error();
        html_.tags(
            "<div class=\"banner bad\" role=\"alert\"><p>The journal does NOT verify.</p><p>");
        if (fault.seq) html_.tags("First bad record ").text(std::to_string(*fault.seq)).tags(": ");
        html_.quoted(fault.what)
            .tags(
                ".</p><p>Nothing below can be relied on. Keep the copy as it "
                "is; call an inspector.</p></div>\n");
    }

    void writeVerification()
    {
        html_.tags(
            "<section id=\"verification\">\n<h2>Verification</h2>\n<div class=\"scroll\"><table>"
            "<caption>What was checked to make this page</caption>\n<tbody>\n");
        row(html_, "result", verified_ ? "it verifies" : "it does NOT verify");
        if (verified_) {
            row(html_, "records",
                grouped(verified_->end - verified_->first) + ", from " +
                    std::to_string(verified_->first) + " to " + std::to_string(verified_->end - 1) +
                    ", each hashed, the tree rebuilt");
            row(html_, "commands",
                grouped(verified_->commands) +
                    ", each outcome computed again, to the last 1e-8 dollar");
            row(html_, "checkpoints",
                grouped(verified_->checkpoints) + ", each with its root and its signatures");
            for (const std::string& remark : verified_->remarks) row(html_, "remark", remark);
        } else {
            const storage::Fault& fault = verified_.error();
            if (fault.seq) row(html_, "first bad record", std::to_string(*fault.seq));
            row(html_, "what is wrong", fault.what);
            if (!fault.file.empty()) row(html_, "file", fault.file.filename().string());
        }
        for (const std::string& key : request_.keys) row(html_, "verifier key held", key);
        html_.tags("</tbody></table></div>\n</section>\n");
    }

    void writeCheckpoint()
    {
        html_.tags(
            "<section id=\"checkpoint\">\n<h2>Checkpoint</h2>\n<p>The signed note that pins down "
            "every record this page was made from, as it was signed. Signed by ");
        for (const std::string& signer : request_.signers) {
            if (&signer != &request_.signers.front()) html_.tags(", ");
            html_.tags("<code>").text(signer).tags("</code>");
        }
        html_.tags(".</p>\n<pre>");
        std::string_view rest = journal_->noteText();
        while (!rest.empty()) {
            const auto end = std::min(rest.find('\n'), rest.size());
            html_.text(rest.substr(0, end)).tags("\n");
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        html_.tags("</pre>\n</section>\n");
    }

    void writePools(const PageContent& content)
    {
        html_.tags("<section id=\"pools\">\n<h2>Pools</h2>\n");
        if (isThere(html_, content.noPools) && isThere(html_, content.noHistory)) {
            if (content.pools.empty()) html_.tags("<p>There are no pools yet.</p>\n");
            std::int64_t number = 0;
            for (const std::string& pool : content.pools)
                writePool(pool, content.history.pools.at(pool), content.history, ++number);
        }
        html_.tags("</section>\n");
    }

    void writePool(const std::string& id, const PoolHistory& pool, const History& history,
                   std::int64_t number)
    {
        html_.tags("<div class=\"pool\">\n<h3>Pool ").quoted(id).tags("</h3>\n");
        if (pool.points.empty()) {
            html_.tags("<p>It has no record in the period.</p>\n");
        } else {
            html_.tags("<figure>\n");
            drawChart(html_, number, id, pool, history, period());
            html_.tags(
                "<figcaption class=\"soft\">What the pool displayed. The scale need not begin "
                "at zero.</figcaption>\n</figure>\n");
        }
        html_.tags("<div class=\"beside\">\n");
        if (pool.config) {
            html_.tags("<table><caption>Parameters at the end of the period</caption>\n<tbody>\n");
            row(html_, "game", idOf(pool.config->game));
            row(html_, "wager", toRead(pool.config->wager));
            for (const auto& [name, value] :
                 rules::parametersByName(rules::parametersOf(*pool.config)))
                row(html_, name, value);
            row(html_, "state", pool.suspended ? "suspended" : "open");
            html_.tags("</tbody></table>\n");
        }
        if (!pool.points.empty()) writeFigures(pool);
        html_.tags("</div>\n");
        if (!pool.events.empty()) writeEvents(pool);
        html_.tags("</div>\n");
    }

    void writeFigures(const PoolHistory& pool)
    {
        html_.tags("<table><caption>Displayed in the period</caption>\n");
        head(html_, {{""}, {"amount", true}, {"since"}});
        html_.tags("<tbody>\n");
        const auto figure = [&](std::string_view name, const HistoryPoint& point) {
            html_.tags("<tr><th scope=\"row\">").text(name).tags("</th>");
            moneyCell(html_, point.displayed);
            timeCell(point.timeMs);
            html_.tags("</tr>\n");
        };
        figure("at first", pool.points.front());
        figure("lowest", pool.lowest);
        figure("highest", pool.highest);
        figure("at last", pool.points.back());
        html_.tags("<tr><th scope=\"row\">reserve at last</th>");
        moneyCell(html_, pool.reserve);
        html_.tags("<td></td></tr>\n</tbody></table>\n");
    }

    void writeEvents(const PoolHistory& pool)
    {
        const std::size_t count = pool.events.size();
        const std::size_t from = count - std::min(count, kEventsListed);
        html_.tags("<div class=\"scroll\"><table><caption>Jackpots and resets marked in the chart");
        if (from > 0)
            html_.tags(": the last ").text(grouped(count - from)).tags(" of ").text(grouped(count));
        html_.tags("</caption>\n");
        head(html_, {{"time"},
                     {"record", true},
                     {"what"},
                     {"displayed before", true},
                     {"displayed after", true}});
        html_.tags("<tbody>\n");
        for (std::size_t i = from; i < count; ++i) {
            const HistoryEvent& event = pool.events[i];
            html_.tags("<tr>");
            timeCell(event.timeMs);
            numberCell(html_, event.seq);
            textCell(html_, !event.win    ? "brought up to the minimum"
                            : event.reset ? "jackpot, brought up to the minimum"
                                          : "jackpot");
            moneyCell(html_, event.before);
            moneyCell(html_, event.after);
            html_.tags("</tr>\n");
        }
        html_.tags("</tbody></table></div>\n");
    }

    void writeAwards(const PageContent& content)
    {
        html_.tags(
            "<section id=\"awards\" class=\"wide\">\n<h2>Awards</h2>\n<p>In the order of payment, "
            "each with the "
            "rule "
            "that it follows and its arithmetic. Its later state is that of the "
            "checkpoint.</p>\n");
        if (isThere(html_, content.noWins))
            for (const std::string& pool : content.pools) {
                html_.tags("<h3>Pool ").quoted(pool).tags("</h3>\n");
                const PoolWins& wins = content.wins.at(pool);
                writeWins("Jackpots", pool, wins.jackpots, wins.jackpots.wins.size());
                const bool all = request_.last || period().hasFrom || period().hasTo;
                writeWins("Fixed awards and bonuses", pool, wins.others,
                          all ? wins.others.wins.size() : kOtherAwards);
            }
        html_.tags("</section>\n");
    }

    void writeWins(std::string_view title, const std::string& pool, const WinList& list,
                   std::size_t most)
    {
        if (list.count == 0) {
            html_.tags("<p>").text(title).tags(": none.</p>\n");
            return;
        }
        const std::size_t shown = std::min(list.wins.size(), most);
        html_.tags("<div class=\"scroll\"><table class=\"full\"><caption>").text(title);
        html_.tags(" of pool ").quoted(pool).tags(": ");
        if (shown < list.count) html_.tags("the last ").text(grouped(shown)).tags(" of ");
        html_.text(grouped(list.count)).tags("</caption>\n");
        head(html_, {{"time"},
                     {"record", true},
                     {"table"},
                     {"round", true},
                     {"seat", true},
                     {"award"},
                     {"amount", true},
                     {"rule"},
                     {"arithmetic"},
                     {"what became of it"}});
        html_.tags("<tbody>\n");
        for (std::size_t i = list.wins.size() - shown; i < list.wins.size(); ++i) {
            const Win& win = list.wins[i];
            const storage::RecordedAward& award = win.award;
            html_.tags("<tr>");
            timeCell(win.timeMs);
            numberCell(html_, win.seq);
            textCell(html_, award.table);
            numberCell(html_, award.round);
            numberCell(html_, award.seat);
            html_.tags("<td class=\"a\">").text(titleOf(award.tier)).tags("</td>");
            moneyCell(html_, award.amount);
            html_.tags("<td class=\"t\">").quoted(award.rule).tags("</td>");
            longTextCell(html_, award.inWords());
            textCell(html_, statusInWords(win));
            html_.tags("</tr>\n");
        }
        html_.tags("</tbody></table></div>\n");
    }

    void writeReconciliation(const PageContent& content)
    {
        html_.tags(
            "<section id=\"reconciliation\" class=\"wide\">\n<h2>Reconciliation</h2>\n<p>For each "
            "day, "
            "opening and closing are what the records state; what moved them are the sums of "
            "the postings, with the sign that the pool sees. The check is that they add up, "
            "for the day and after each record of it, to the last 1e-8 dollar. What the house "
            "paid is not the pool&#39;s money.</p>\n");
        if (isThere(html_, content.noDays))
            for (const std::string& pool : content.pools) writeDays(pool, content);
        html_.tags("</section>\n");
    }

    void writeDays(const std::string& pool, const PageContent& content)
    {
        const auto found = content.days.find(pool);
        if (found == content.days.end()) {
            html_.tags("<p>Pool ").quoted(pool).tags(": no day in the period has a record.</p>\n");
            return;
        }
        html_.tags("<div class=\"scroll\"><table class=\"full\"><caption>Days of pool ")
            .quoted(pool);
        html_.tags(
            "</caption>\n<thead><tr><th scope=\"col\">day</th><th scope=\"col\">account</th>"
            "<th scope=\"col\" class=\"n\">opening</th>");
        for (const Line& line : kLines)
            html_.tags("<th scope=\"col\" class=\"n\">").text(line.label).tags("</th>");
        html_.tags(
            "<th scope=\"col\" class=\"n\">closing</th><th scope=\"col\" class=\"n\">paid by the "
            "house</th><th scope=\"col\">check</th></tr></thead>\n");
        for (const Day& day : found->second.days) writeDay(dayText(day.day), day, false);
        if (const std::size_t count = found->second.days.size(); count > 1)
            writeDay("all " + grouped(count) + " days", *found->second.sum, true);
        html_.tags("</table></div>\n");
    }

    void writeDay(const std::string& title, const Day& day, bool isTotal)
    {
        agrees_ = agrees_ && day.agrees();
        const auto open = [&] {
            isTotal ? html_.tags("<tr class=\"total\">") : html_.tags("<tr>");
        };
        html_.tags("<tbody class=\"day\">");
        open();
        html_.tags("<th scope=\"rowgroup\" rowspan=\"2\" class=\"t\">").text(title);
        html_.tags("</th><td>meter</td>");
        moneyCell(html_, day.opening.meter);
        for (std::size_t i = 0; i < kLines.size(); ++i)
            if (kLines.at(i).meter)
                moneyCell(html_, day.moved.at(i).meter);
            else
                html_.tags("<td></td>");
        moneyCell(html_, day.closing.meter);
        html_.tags("<td class=\"n\" rowspan=\"2\">").money(day.paidByHouse);
        day.agrees() ? html_.tags("</td><td rowspan=\"2\" class=\"good\">")
                     : html_.tags("</td><td rowspan=\"2\" class=\"bad\">");
        html_.text(day.check()).tags("</td></tr>\n");
        open();
        html_.tags("<td>reserve</td>");
        moneyCell(html_, day.opening.reserve);
        for (std::size_t i = 0; i < kLines.size(); ++i)
            if (kLines.at(i).reserve)
                moneyCell(html_, day.moved.at(i).reserve);
            else
                html_.tags("<td></td>");
        moneyCell(html_, day.closing.reserve);
        html_.tags("</tr></tbody>\n");
    }

    void writeDifferences(const PageContent& content)
    {
        html_.tags(
            "<section id=\"differences\">\n<h2>Differences between payments and what was due</h2>\n"
            "<p>Payments that differ by more than $1,000 are to be listed each month (BJ "
            "16.21.2, UTH 11.15).</p>\n");
        if (isThere(html_, content.noDifferences)) {
            if (content.differences.months.empty())
                html_.tags("<p>No payment is recorded in the period.</p>\n");
            for (const auto& [month, totals] : content.differences.months)
                writeMonth(month, totals, content.differences.listed);
            if (content.differences.months.size() > 1) {
                html_.tags("<h3>All months</h3>\n");
                writeTotals("all months", content.differences.totals);
            }
        }
        html_.tags("</section>\n");
    }

    void writeMonth(const std::string& month, const PaymentTotals& totals,
                    const std::vector<Difference>& listed)
    {
        html_.tags("<h3>").text(month).tags("</h3>\n");
        if (totals.listedOver.count + totals.listedUnder.count == 0) {
            html_.tags("<p>No award was paid with a difference of more than $1,000.</p>\n");
        } else {
            html_.tags("<div class=\"scroll\"><table class=\"full\"><caption>Payments of ")
                .text(month);
            html_.tags(" whose sum differs from what is due by more than $1,000</caption>\n");
            head(html_, {{"time"},
                         {"record", true},
                         {"pool"},
                         {"award"},
                         {"due", true},
                         {"paid", true},
                         {"difference", true},
                         {"how"},
                         {"by"}});
            html_.tags("<tbody>\n");
            for (const Difference& each : listed) {
                if (monthOf(each.timeMs, period()) != month) continue;
                html_.tags("<tr>");
                timeCell(each.timeMs);
                numberCell(html_, each.seq);
                textCell(html_, each.pool);
                textCell(html_, awardOf(each.award));
                moneyCell(html_, each.due);
                moneyCell(html_, each.paid);
                moneyCell(html_, each.amount());
                textCell(html_, each.how);
                textCell(html_, each.people());
                html_.tags("</tr>\n");
            }
            html_.tags("</tbody></table></div>\n");
        }
        writeTotals(month, totals);
    }

    void writeTotals(const std::string& title, const PaymentTotals& totals)
    {
        html_.tags("<table><caption>Payments recorded, ").text(title).tags("</caption>\n");
        head(html_, {{""}, {"number", true}, {"amount", true}});
        html_.tags("<tbody>\n<tr><th scope=\"row\">all payments</th>");
        countCell(html_, totals.payments.count);
        moneyCell(html_, totals.payments.amount);
        html_.tags("</tr>\n<tr><th scope=\"row\">as due</th>");
        countCell(html_, totals.exact);
        html_.tags("<td></td></tr>\n");
        for (const NamedSum& each : kSums) {
            html_.tags("<tr><th scope=\"row\">").text(each.label).tags("</th>");
            countCell(html_, (totals.*each.sum).count);
            moneyCell(html_, (totals.*each.sum).amount);
            html_.tags("</tr>\n");
        }
        html_.tags("</tbody></table>\n");
    }

    void writeIncidents(const PageContent& content)
    {
        html_.tags("<section id=\"changes\">\n<h2>Changes, suspensions and keys</h2>\n");
        if (isThere(html_, content.noHistory)) {
            if (content.history.incidents.empty()) {
                html_.tags("<p>None in the period.</p>\n");
            } else {
                html_.tags(
                    "<div class=\"scroll\"><table class=\"full\"><caption>Changes of the site and "
                    "of "
                    "parameters, suspensions, adjustments, awards withheld, changes of key"
                    "</caption>\n");
                head(html_, {{"time"}, {"record", true}, {"kind"}, {"what"}});
                html_.tags("<tbody>\n");
                for (const Incident& each : content.history.incidents) writeIncident(each);
                html_.tags("</tbody></table></div>\n");
            }
        }
        html_.tags("</section>\n");
    }

    void writeIncident(const Incident& incident)
    {
        html_.tags("<tr>");
        timeCell(incident.timeMs);
        numberCell(html_, incident.seq);
        textCell(html_, incident.kind);
        html_.tags("<td class=\"w\">");
        for (const std::string& words : incident.words) {
            if (&words != &incident.words.front()) html_.tags("<br>");
            html_.quoted(words);
        }
        if (!incident.refusal.empty())
            html_.tags("<br><strong>REFUSED</strong>: ")
                .quoted(incident.refusal)
                .tags("; nothing was changed");
        html_.tags("</td></tr>\n");
    }

    void writeHowTo()
    {
        std::string selection;
        if (!request_.report.pool.empty()) selection += " --pool '" + request_.report.pool + "'";
        if (period().hasFrom) selection += " --from " + isoTime(period().fromMs);
        if (period().hasTo) selection += " --to " + isoTime(period().toMs);
        if (period().offsetMs != 0) selection += " --timezone-offset " + period().zone().substr(3);
        html_.tags(
            "<section id=\"yourself\">\n<h2>Verify it yourself</h2>\n<p>This page is not signed; "
            "the "
            "journal is. With a copy of the journal in the directory <code>journal</code> and the "
            "verifier key that the casino handed you in the file <code>key.vkey</code>, not the "
            "one printed above:</p>\n<pre>");
        html_.tags(
            "jackpot-audit verify --key @key.vkey --keep visit.checkpoint journal\n"
            "jackpot-audit checkpoint --key @key.vkey journal\n");
        for (const std::string_view report : {"wins", "reconciliation", "differences"})
            html_.text("jackpot-audit report " + std::string{report} + selection + " journal")
                .tags("\n");
        html_.text("jackpot-audit report --html again.html --key @key.vkey" +
                   (request_.last ? " --last " + std::to_string(*request_.last) : "") + selection +
                   " journal");
        html_.tags(
            "</pre>\n<p>The last makes this page again, byte for byte, as long as the journal ends "
            "with the same checkpoint. <code>jackpot-audit show RECORD journal</code> tells all of "
            "one record, <code>jackpot-audit prove</code> proves it to others. The journal&#39;s "
            "form "
            "is described precisely enough to check all this with a program of your "
            "own.</p>\n</section>\n");
    }

    JournalView* journal_;
    const Result<storage::Verified, storage::Fault>& verified_;
    const PageRequest& request_;
    Output& out_;
    TextOutput buffer_{std::numeric_limits<std::size_t>::max()};
    Html html_{buffer_};
    bool agrees_ = true;
};

}  // namespace

bool writePage(JournalView* journal, const Result<storage::Verified, storage::Fault>& verified,
               const PageRequest& request, Output& out)
{
    return Page{journal, verified, request, out}.write();
}

}  // namespace jackpot::audit
