// The part of Books that follows the wins: their awards as the daemon reports them, compared with
// the accounts of the pools in the order of the records.
#include <algorithm>
#include <set>

#include "tools/floorsim/books.h"

namespace jackpot::floorsim {
namespace {

constexpr std::int64_t kMsNs = 1'000'000;
// Clocks of the table and of the daemon are read at different times, in whole milliseconds.
constexpr std::int64_t kPressMarginMs = 5;
constexpr int kMaxDue = 64;  // TableState lists at most this many

}  // namespace

bool Books::mayPress(std::uint32_t table, std::int64_t nowNs) const
{
    const std::uint32_t pool = terms_[table].pool;
    for (const auto& [key, win] : wins_)
        if (win.decidedNs == 0 && key.table != table && terms_[key.table].pool == pool)
            return false;
    return pressDecidedNs_[pool] == 0 ||
           nowNs - pressDecidedNs_[pool] >=
               (pools_[pool].terms().windowMs + kPressMarginMs) * kMsNs;
}

std::size_t Books::openWins(std::uint32_t table) const
{
    std::size_t sum = winsBefore_[table];
    for (auto win = wins_.lower_bound({table, 0}); win != wins_.end() && win->first.table == table;
         ++win)
        if (win->second.phase < WinState::Phase::Final) ++sum;
    return sum;
}

std::size_t Books::winsLocked() const
{
    return static_cast<std::size_t>(std::ranges::count_if(
        wins_, [](const auto& each) { return each.second.phase <= WinState::Phase::Locked; }));
}

std::size_t Books::winsHeld(std::uint32_t pool) const
{
    return static_cast<std::size_t>(std::ranges::count_if(wins_, [&](const auto& each) {
        return terms_[each.first.table].pool == pool && each.second.phase == WinState::Phase::Held;
    }));
}

template <class Message>
void Books::handleWins(std::uint32_t table, const Message& message, std::int64_t nowNs)
{
    // Fixed awards are compared with their round.
    for (const v2::Award& award : message.awards()) checkPlayer(table, award);
    for (const v2::Award& award : message.withdrawn())
        addReport(table, Report::Kind::Withdrawn, message.record(), award);
    for (const v2::Award& award : message.awards())
        addReport(table, Report::Kind::Due, message.record(), award);
    for (const v2::Award& award : message.locked())
        addReport(table, Report::Kind::Locked, message.record(), award);
    for (const v2::Claim& claim : message.claims())
        handleClaim(table, claim, message.record(), message.displayed_cents(), nowNs);
}
template void Books::handleWins(std::uint32_t, const v2::Decision&, std::int64_t);

void Books::handleSettlement(std::uint32_t table, const v2::Settlement& settlement,
                             std::int64_t nowNs)
{
    shownCents_[terms_[table].pool] = settlement.displayed_cents();
    if (!hasBegun_) return;
    Movement movement;
    movement.record = settlement.record();
    movement.round = {table, 0};
    movement.shownCents = settlement.displayed_cents();
    pending_.push_back(movement);
    handleWins(table, settlement, nowNs);
}

// A card's pseudonym is always the same, and an award with a card has one.
void Books::checkPlayer(std::uint32_t table, const v2::Award& award)
{
    const bool hasCard = terms_[table].requirePlayerCard;
    if (award.player().empty() == hasCard)
        return addMistake(where(table, award.round(), static_cast<int>(award.seat())) +
                          ": the award " +
                          (hasCard ? "names no player" : "names a player, and there was no card"));
    std::string& known = players_[terms_[table].id + " " + std::to_string(award.seat())];
    if (!known.empty() && known != award.player())
        addMistake(where(table, award.round(), static_cast<int>(award.seat())) +
                   ": the award names another player than the awards before with the same card");
    known = award.player();
}

void Books::addReport(std::uint32_t table, Report::Kind kind, std::uint64_t record,
                      const v2::Award& award)
{
    const auto tier = tierNamed(award.tier());
    const int seat = static_cast<int>(award.seat());
    if (!tier)
        return addMistake(where(table, award.round(), seat) +
                          ": an award of an unknown tier: " + award.tier());
    if (!isJackpot(*tier) && *tier != Tier::Bonus) return;
    if (award.round() <= tables_[table].progress.firstRound) return;  // of a win before the run
    reports_.push_back({record, kind, {table, award.round()}, seat, *tier, award.amount_cents()});
    auto& due = wins_[{table, award.round()}].due;
    if (kind == Report::Kind::Due) {
        if (!due.emplace(std::pair{seat, *tier}, award.amount_cents()).second)
            return addMistake(where(table, award.round(), seat) + ": " +
                              std::string{nameOf(*tier)} + " was awarded twice");
        count(*tier, award.amount_cents());
    } else if (due.erase({seat, *tier}) > 0) {
        count(*tier, award.amount_cents(), -1);
    }
}

void Books::handleClaim(std::uint32_t table, const v2::Claim& claim, std::uint64_t record,
                        std::int64_t shownCents, std::int64_t nowNs)
{
    const RoundKey key{table, claim.round()};
    const auto found = wins_.find(key);
    if (found == wins_.end()) {
        if (claim.round() <= tables_[table].progress.firstRound && claim.state() == "final" &&
            winsBefore_[table] > 0)
            --winsBefore_[table];
        return;
    }
    WinState& win = found->second;
    using Phase = WinState::Phase;
    if (claim.state() == "locked") {
        win.phase = Phase::Locked;
    } else if (claim.state() == "held") {
        win.phase = Phase::Held;
        win.wasHeld = true;
    } else if (claim.state() == "due") {
        if (win.phase == Phase::Held && hasBegun_) {
            Movement ruling;
            ruling.record = record;
            ruling.round = key;
            ruling.shownCents = shownCents;
            ruling.kind = Movement::Kind::Ruling;
            pending_.push_back(ruling);
        }
        if (win.phase != Phase::Due) checkDue(key, win, nowNs);
        win.phase = Phase::Due;
    } else if (claim.state() == "final") {
        win.phase = Phase::Final;
        Movement movement;
        movement.record = record;
        movement.round = key;
        movement.kind = Movement::Kind::Final;
        pending_.push_back(movement);
    }
}

// A Blazing 7's win that was never held is not due before its time, and not if another table's
// press came at nearly the same time.
void Books::checkDue(const RoundKey& round, const WinState& win, std::int64_t nowNs)
{
    const PoolTerms& terms = termsOf(round.table);
    if (terms.game != Game::BlazingSevens || !terms.isAllOurs || win.wasHeld) return;
    if (nowNs - win.pressedNs < terms.settleAfterMs * kMsNs)
        addMistake(where(round.table, round.round) + ": is due " +
                   std::to_string((nowNs - win.pressedNs) / kMsNs) +
                   " ms after the button, and settle_after_ms is " +
                   std::to_string(terms.settleAfterMs));
    for (const auto& [key, other] : wins_) {
        if (key.table == round.table || terms_[key.table].pool != terms_[round.table].pool)
            continue;
        const std::int64_t apartNs = std::abs(other.pressedNs - win.pressedNs);
        if (other.decidedNs != 0 && apartNs < terms.windowMs * kMsNs / 2)
            addMistake(where(round.table, round.round) + ": is due without a ruling, and " +
                       where(key.table, key.round) + " was confirmed within the window");
    }
}

const JackpotAward* Books::findAward(const RoundKey& round, int seat, Tier tier) const
{
    const auto& wins = pools_[terms_[round.table].pool].wins();
    const auto win = wins.find(round);
    if (win == wins.end()) return nullptr;
    for (const JackpotAward& award : win->second.awards)
        if (award.seat == seat && award.tier == tier) return &award;
    return nullptr;
}

bool Books::agrees(const Report& report) const
{
    if (report.kind == Report::Kind::Withdrawn) return true;  // compared when it became due
    const JackpotAward* const award = findAward(report.round, report.seat, report.tier);
    return award && award->cents == report.cents;
}

void Books::compare(const Report& report)
{
    const PoolAccount& pool = pools_[terms_[report.round.table].pool];
    if (!pool.isChecked() || agrees(report)) return;
    const auto win = pool.wins().find(report.round);
    if (win != pool.wins().end() && !win->second.isKnown) return;
    const JackpotAward* const award = findAward(report.round, report.seat, report.tier);
    addMistake(where(report.round.table, report.round.round, report.seat) + ": " +
               std::string{nameOf(report.tier)} +
               (report.kind == Report::Kind::Due ? " is awarded " : " is locked with ") +
               dollars(report.cents) + ", and by the books " +
               (award ? dollars(award->cents) : "nothing"));
}

// Applies the movements of one record, then compares the awards that came with it.
void Books::applyRecord(std::uint64_t record)
{
    const auto end = std::ranges::find_if(
        pending_, [&](const Movement& movement) { return movement.record > record; });
    const auto reportsEnd = std::ranges::find_if(
        reports_, [&](const Report& report) { return report.record > record; });
    const bool allAgree = std::all_of(reports_.begin(), reportsEnd,
                                      [&](const Report& report) { return agrees(report); });
    std::set<std::uint32_t> ruled;
    for (auto movement = pending_.begin(); movement != end; ++movement) {
        if (movement->isDecision) {
            if (movement->record <= lastRecord_)
                addMistake("table " + terms_[movement->round.table].id + ": record " +
                           std::to_string(movement->record) + " is another command's");
            lastRecord_ = movement->record;
        }
        PoolAccount& pool = pools_[terms_[movement->round.table].pool];
        // Held wins that are due after a ruling: the order is not sent to tables.
        if (movement->kind == Movement::Kind::Ruling) {
            const bool isAsBefore = allAgree && pool.shownCents() == *movement->shownCents;
            if (isAsBefore || !ruled.insert(terms_[movement->round.table].pool).second) continue;
        }
        pool.apply(*movement);
    }
    for (auto report = reports_.begin(); report != reportsEnd; ++report) compare(*report);
    pending_.erase(pending_.begin(), end);
    reports_.erase(reports_.begin(), reportsEnd);
}

void Books::handleState(std::uint32_t table, const v2::TableState& state)
{
    tables_[table].state = state;
    handlePoolNews(table, state.pool());
    if (!hasBegun_) return;
    // What was sent while this table had no link is in its state.
    for (const v2::Claim& claim : state.claims()) {
        const auto win = wins_.find({table, claim.round()});
        if (win == wins_.end() || win->second.decidedNs == 0) continue;
        if (claim.state() == "held") {
            win->second.phase = WinState::Phase::Held;
            win->second.wasHeld = true;
        } else if (claim.state() == "due") {
            win->second.phase = WinState::Phase::Due;
        }
    }
    for (const v2::Award& award : state.due()) {
        const auto tier = tierNamed(award.tier());
        const auto win = wins_.find({table, award.round()});
        if (!tier || win == wins_.end()) continue;
        const auto key = std::pair{static_cast<int>(award.seat()), *tier};
        if (win->second.due.emplace(key, award.amount_cents()).second)
            count(*tier, award.amount_cents());
    }
}

// The awards of the table's wins, as its last state lists them.
void Books::endWins(std::uint32_t table, const v2::TableState& state)
{
    const PoolAccount& pool = pools_[terms_[table].pool];
    if (!pool.isChecked()) return;
    const auto compareAll = [&](const auto& awards, const char* how) {
        for (const v2::Award& award : awards) {
            if (award.round() <= tables_[table].progress.firstRound) continue;
            const auto win = pool.wins().find({table, award.round()});
            if (win != pool.wins().end() && !win->second.isKnown) continue;
            const auto tier = tierNamed(award.tier()).value_or(Tier::None);
            const auto* const own =
                findAward({table, award.round()}, static_cast<int>(award.seat()), tier);
            if (!own || own->cents != award.amount_cents())
                addMistake(where(table, award.round(), static_cast<int>(award.seat())) + ": " +
                           award.tier() + " is " + how + " with " + dollars(award.amount_cents()) +
                           " at the end, and by the books with " +
                           (own ? dollars(own->cents) : "nothing"));
        }
    };
    compareAll(state.locked(), "locked");
    compareAll(state.due(), "due");
    for (auto win = pool.wins().lower_bound({table, 0});
         win != pool.wins().end() && win->first.table == table; ++win) {
        if (win->second.isFinal || !win->second.isKnown) continue;
        for (const JackpotAward& own : win->second.awards) {
            const auto isIt = [&](const v2::Award& award) {
                return award.round() == win->first.round && award.seat() == own.seat &&
                       award.tier() == nameOf(own.tier);
            };
            if (std::ranges::any_of(state.locked(), isIt) ||
                std::ranges::any_of(state.due(), isIt) ||
                std::ranges::any_of(state.withheld(), isIt))
                continue;
            if (state.due_size() >= kMaxDue)
                ++totals_.awardsNotListed;
            else
                addMistake(where(table, win->first.round, own.seat) + ": " +
                           std::string{nameOf(own.tier)} + " wins " + dollars(own.cents) +
                           " by the books, and no award was reported");
        }
    }
}

}  // namespace jackpot::floorsim
