// The figures on the auditor's page, collected before any of it is written.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "audit/differences.h"
#include "audit/history.h"
#include "audit/page.h"
#include "audit/reconciliation.h"
#include "audit/wins.h"

namespace jackpot::audit {

struct PoolDays {
    std::vector<Day> days;
    std::optional<Day> sum;
};

// Each part, or the reason why it cannot be shown.
struct PageContent {
    std::vector<std::string> pools;
    std::string noPools;
    History history;
    std::string noHistory;
    WinsOfPools wins;
    std::string noWins;
    std::map<std::string, PoolDays, std::less<>> days;
    std::string noDays;
    Differences differences;
    std::string noDifferences;
};

// The reason why the work failed on a journal that does not verify; empty if it succeeded.
template <class Work>
std::string tryTo(bool isVerified, Work&& work)
{
    try {
        work();
        return {};
    } catch (const AuditError& error) {
        if (isVerified || error.kind() != DoesNotVerify) throw;
        return error.what();
    } catch (const std::overflow_error& error) {
        if (isVerified) throw;
        return error.what();
    }
}

PageContent collectContent(JournalView& journal, const PageRequest& request, bool isVerified);

}  // namespace jackpot::audit
