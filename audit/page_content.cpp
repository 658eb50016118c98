#include "audit/page_content.h"

namespace jackpot::audit {

PageContent collectContent(JournalView& journal, const PageRequest& request, bool isVerified)
{
    PageContent content;
    ReportRequest asked = request.report;
    asked.last = request.last.value_or(kMaxLast);
    content.noPools = tryTo(isVerified, [&] { content.pools = askedPools(journal, asked); });
    content.noHistory =
        tryTo(isVerified, [&] { content.history = collectHistory(journal, asked, content.pools); });
    content.noWins =
        tryTo(isVerified, [&] { content.wins = collectWins(journal, asked, content.pools); });
    content.noDays = tryTo(isVerified, [&] {
        reconcile(journal, asked, content.pools, [&](const std::string& pool, const Day& day) {
            PoolDays& days = content.days[pool];
            days.days.push_back(day);
            if (days.sum)
                days.sum->addDay(day);
            else
                days.sum = day;
        });
    });
    content.noDifferences = tryTo(isVerified, [&] {
        content.differences = collectDifferences(journal, asked, content.pools);
    });
    return content;
}

}  // namespace jackpot::audit
