// The part of Books that compares each decision with the cards and commands of its round.
#include <algorithm>
#include <bit>
#include <functional>

#include "tools/floorsim/books.h"

namespace jackpot::floorsim {
namespace {

using What = v2::Command;

int countOf(SeatSet seats) { return std::popcount(seats); }

void mix(std::size_t& into, std::size_t value)
{
    into ^= value + 0x9E3779B97F4A7C15U + (into << 6U) + (into >> 2U);
}

void mixAwards(std::size_t& into, const auto& awards)
{
    for (const auto& award : awards) {
        mix(into, static_cast<std::size_t>(award.round()));
        mix(into, static_cast<std::size_t>(award.seat()));
        mix(into, static_cast<std::size_t>(award.amount_cents()));
    }
}

// Hashes the decision without its texts.
std::size_t contentsOf(const v2::Decision& decision)
{
    std::size_t hash = decision.record();
    if (decision.has_refusal()) mix(hash, std::hash<std::string>{}(decision.refusal().code()));
    mixAwards(hash, decision.awards());
    mixAwards(hash, decision.withdrawn());
    mixAwards(hash, decision.locked());
    mixAwards(hash, decision.refunds());
    if (!decision.has_refusal()) mix(hash, static_cast<std::size_t>(decision.displayed_cents()));
    return hash;
}

}  // namespace

void Books::handleRepeated(std::uint32_t table, const v2::Decision& decision)
{
    ++totals_.repeatedAnswers;
    const Answer& answer = tables_[table].answers[decision.number() % 64];
    if (answer.number != decision.number()) return;
    if (answer.record != decision.record() || answer.contents != contentsOf(decision))
        addMistake("table " + terms_[table].id + ": command " + std::to_string(decision.number()) +
                   " was answered once with record " + std::to_string(answer.record) +
                   " and again with record " + std::to_string(decision.record()) +
                   ", or with other contents");
}

void Books::handleDecision(std::uint32_t table, const v2::Decision& decision, std::int64_t nowNs)
{
    TableBook& book = tables_[table];
    const std::string& id = terms_[table].id;
    if (book.sent.empty() || decision.number() < book.sent.front().number) {
        if (decision.number() > book.lastNumber || !decision.again())
            return addMistake(
                "table " + id + ": a decision on command " + std::to_string(decision.number()) +
                ", which was " +
                (decision.number() > book.lastNumber ? "never sent" : "decided before"));
        return handleRepeated(table, decision);
    }
    if (decision.number() > book.sent.front().number)
        return addMistake("table " + id + ": a decision on command " +
                          std::to_string(decision.number()) + " came before that on " +
                          std::to_string(book.sent.front().number));
    const Sent sent = book.sent.front();
    book.sent.pop_front();
    if (decision.again())
        ++totals_.repeatedAnswers;
    else
        latencies_.add(nowNs - sent.sentNs);
    if (decision.record() < sent.notBefore || decision.record() <= book.lastRecord)
        addMistake("table " + id + ": command " + std::to_string(sent.number) + " is in record " +
                   std::to_string(decision.record()) + ", which was there before it was sent");
    book.lastRecord = decision.record();
    book.answers[decision.number() % 64] = {decision.number(), decision.record(),
                                            contentsOf(decision)};
    if (!hasBegun_) return;  // tidying up before the books begin
    const std::uint32_t pool = terms_[table].pool;
    if (decision.has_refusal()) return handleRefusal(table, sent, decision);

    shownCents_[pool] = decision.displayed_cents();
    Movement movement;
    movement.record = decision.record();
    movement.round = {table, sent.round};
    movement.shownCents = decision.displayed_cents();
    movement.isDecision = true;
    switch (sent.what) {
        case What::kOpenRound: handleOpened(book, sent, movement); break;
        case What::kReportResult:
        case What::kCorrectResult: handleResult(table, sent, decision, movement); break;
        case What::kConfirmJackpot: handleConfirmed(table, sent, nowNs, movement); break;
        case What::kCloseRound:
            book.round.isClosed = true;
            ++totals_.closed;
            break;
        case What::kVoidRound:
        case What::kVoidWager: handleVoid(table, sent, decision, movement); break;
        case What::kSuspend:
            if (sent.ground == v2::Suspend::MALFUNCTION) handleSuspended(table, decision, movement);
            break;
        default: break;
    }
    pending_.push_back(movement);
    handleWins(table, decision, nowNs);
}

void Books::handleRefusal(std::uint32_t table, const Sent& sent, const v2::Decision& decision)
{
    const std::string& code = decision.refusal().code();
    Movement movement;
    movement.record = decision.record();
    movement.round = {table, sent.round};
    movement.isDecision = true;
    pending_.push_back(movement);
    ++totals_.refusals[code];
    Round& round = tables_[table].round;
    if (sent.what == What::kOpenRound) {
        round = {};
        round.number = sent.round;
        round.isRefused = true;
    }
    if (sent.what == What::kConfirmJackpot) wins_.erase({table, sent.round});
    // People, or a wrong count, suspend tables and pools. Later commands of the round are then
    // refused.
    const bool isExcused =
        code == "table_suspended" || code == "pool_suspended" || code == "not_suspended" ||
        (round.isRefused && round.number == sent.round && sent.what != What::kOpenRound);
    if (!isExcused)
        addMistake(where(table, sent.round) + ": command " + std::to_string(sent.number) +
                   " was refused: " + code +
                   (decision.refusal().detail().empty() ? "" : ": " + decision.refusal().detail()));
}

void Books::handleOpened(TableBook& book, const Sent& sent, Movement& movement)
{
    book.round = {};
    book.round.number = sent.round;
    book.round.standing = sent.seats;
    book.round.isOpen = true;
    book.wagers += static_cast<std::uint64_t>(countOf(sent.seats));
    totals_.wagers += static_cast<std::uint64_t>(countOf(sent.seats));
    ++totals_.rounds;
    movement.kind = Movement::Kind::Opened;
    movement.seats = sent.seats;
}

// The result of a round, or its correction: what comes out the same stands, the rest is withdrawn,
// and the new awards are due (BJ 16.8).
void Books::handleResult(std::uint32_t table, const Sent& sent, const v2::Decision& decision,
                         Movement& movement)
{
    Round& round = tables_[table].round;
    const Tiers before = round.resultIn ? round.tiers : Tiers{};
    if (sent.what == What::kCorrectResult) ++totals_.corrections;
    round.resultIn = true;
    round.tiers = sent.tiers;
    const std::int64_t wager = termsOf(table).wagerCents;
    SeatSet withdrawn = 0;
    int at = 0;
    for (int seat = kSeats; seat >= 1; --seat) {
        const Tier tier = round.tiers[static_cast<std::size_t>(seat)];
        const Tier former = before[static_cast<std::size_t>(seat)];
        if (!has(round.standing, seat) || tier == former) continue;
        if (former != Tier::None && !isJackpot(former))
            withdrawn = static_cast<SeatSet>(withdrawn | bitOf(seat));
        if (tier == Tier::None || isJackpot(tier)) continue;
        const std::int64_t cents = fixedCents(tier, wager);
        if (at >= decision.awards_size()) {
            addMistake(where(table, sent.round, seat) + ": " + std::string{nameOf(tier)} +
                       " pays " + dollars(cents) + ", and no award was reported");
            continue;
        }
        const v2::Award& award = decision.awards(at++);
        if (award.seat() != seat || award.tier() != nameOf(tier) || award.round() != sent.round ||
            award.amount_cents() != cents)
            addMistake(where(table, sent.round, seat) + ": " + std::string{nameOf(tier)} +
                       " pays " + dollars(cents) + ", and the award was " + award.tier() +
                       " on seat " + std::to_string(award.seat()) + " with " +
                       dollars(award.amount_cents()));
        count(tier, award.amount_cents());
    }
    if (at < decision.awards_size())
        addMistake(where(table, sent.round, static_cast<int>(decision.awards(at).seat())) +
                   ": an award that nobody won: " + decision.awards(at).tier() + ", " +
                   dollars(decision.awards(at).amount_cents()));
    compareReturns(table, decision, before, 0, withdrawn);
    compareClaims(table, round, before, decision);
    movement.standing = round.standing;
    movement.tiers = round.tiers;
}

// Each hand that wins a jackpot by the new result is reported as a claim, and no other.
void Books::compareClaims(std::uint32_t table, const Round& round, const Tiers& before,
                          const v2::Decision& decision)
{
    int claims = 0;
    for (int seat = 1; seat <= kSeats; ++seat) {
        const Tier tier = round.tiers[static_cast<std::size_t>(seat)];
        if (!has(round.standing, seat) || !isJackpot(tier)) continue;
        ++claims;
        if (tier == before[static_cast<std::size_t>(seat)]) continue;
        const bool isThere = std::ranges::any_of(decision.claims(), [&](const auto& claim) {
            return claim.seat() == seat && claim.tier() == nameOf(tier) &&
                   claim.state() == "claimed" && claim.round() == round.number;
        });
        if (!isThere)
            addMistake(where(table, round.number, seat) + ": holds " + std::string{nameOf(tier)} +
                       ", and no claim was reported");
    }
    const auto reported = std::ranges::count_if(
        decision.claims(), [](const auto& claim) { return claim.state() == "claimed"; });
    if (reported > claims)
        addMistake(where(table, round.number) + ": more claims than hands that won jackpots");
}

void Books::count(Tier tier, std::int64_t cents, int by)
{
    Tally& tally = totals_.awards[static_cast<std::size_t>(tier)];
    tally.count += static_cast<std::uint64_t>(by);
    tally.cents += by * cents;
}

void Books::handleConfirmed(std::uint32_t table, const Sent& sent, std::int64_t nowNs,
                            Movement& movement)
{
    Round& round = tables_[table].round;
    round.isConfirmed = true;
    WinState& win = wins_[{table, sent.round}];
    win.decidedNs = nowNs;
    pressDecidedNs_[terms_[table].pool] = nowNs;
    movement.kind = Movement::Kind::Confirmed;
    movement.standing = round.standing;
    movement.tiers = round.tiers;
}

void Books::handleVoid(std::uint32_t table, const Sent& sent, const v2::Decision& decision,
                       Movement& movement)
{
    Round& round = tables_[table].round;
    const bool isWhole = sent.what == What::kVoidRound;
    // Blackjack's interim settlement stands (BJ 16.8, 16.16), but not if the shuffling device
    // failed (BJ 17.4).
    const bool keepsFixed = isWhole && termsOf(table).game == Game::BlazingSevens &&
                            sent.ground != v2::VoidRound::SHUFFLING_DEVICE;
    SeatSet returned = 0;
    SeatSet withdrawn = 0;
    for (int seat = 1; seat <= kSeats; ++seat) {
        if (!has(round.standing, seat) || (!isWhole && !has(sent.seats, seat))) continue;
        const Tier tier = round.tiers[static_cast<std::size_t>(seat)];
        const bool isDue = round.resultIn && tier != Tier::None && !isJackpot(tier);
        if (isDue && keepsFixed) continue;
        returned = static_cast<SeatSet>(returned | bitOf(seat));
        if (isDue) withdrawn = static_cast<SeatSet>(withdrawn | bitOf(seat));
    }
    compareReturns(table, decision, round.tiers, returned, withdrawn);
    round.standing = static_cast<SeatSet>(round.standing & ~returned);
    round.isVoid = round.isVoid || isWhole;
    ++(isWhole ? totals_.voidedRounds : totals_.voidedWagers);
    movement.kind = Movement::Kind::Changed;
    movement.seats = returned;
    movement.standing = round.standing;
    movement.tiers = round.tiers;
}

// A malfunction returns all wagers of a round without a result; after it, Blackjack those of the
// seats that won nothing (BJ 16.18.1), UTH none (UTH 11.11).
void Books::handleSuspended(std::uint32_t table, const v2::Decision& decision, Movement& movement)
{
    Round& round = tables_[table].round;
    ++totals_.suspensions;
    const bool isOpen = round.isOpen && !round.isVoid && !round.isClosed;
    SeatSet returned = 0;
    for (int seat = 1; seat <= kSeats && isOpen; ++seat) {
        if (!has(round.standing, seat)) continue;
        const bool hasWon = round.tiers[static_cast<std::size_t>(seat)] != Tier::None;
        if (!round.resultIn || (termsOf(table).game == Game::BlazingSevens && !hasWon))
            returned = static_cast<SeatSet>(returned | bitOf(seat));
    }
    compareReturns(table, decision, round.tiers, returned, 0);
    round.standing = static_cast<SeatSet>(round.standing & ~returned);
    if (isOpen && !round.resultIn) round.isVoid = true;
    movement.kind = Movement::Kind::Changed;
    movement.round = {table, round.number};
    movement.seats = returned;
    movement.standing = round.standing;
    movement.tiers = round.tiers;
}

// Compares the wagers that were returned and the fixed awards that were withdrawn.
void Books::compareReturns(std::uint32_t table, const v2::Decision& decision, const Tiers& tiers,
                           SeatSet returned, SeatSet withdrawn)
{
    const Round& round = tables_[table].round;
    SeatSet reportedReturned = 0;
    SeatSet reportedWithdrawn = 0;
    const std::int64_t wager = termsOf(table).wagerCents;
    for (const v2::Refund& refund : decision.refunds()) {
        reportedReturned =
            static_cast<SeatSet>(reportedReturned | bitOf(static_cast<int>(refund.seat())));
        if (refund.amount_cents() != wager || refund.round() != round.number)
            addMistake(where(table, round.number, static_cast<int>(refund.seat())) +
                       ": the wager of " + dollars(wager) + " is returned with " +
                       dollars(refund.amount_cents()));
    }
    for (const v2::Award& award : decision.withdrawn()) {
        const int seat = static_cast<int>(award.seat());
        const Tier tier = tiers[static_cast<std::size_t>(seat % (kSeats + 1))];
        reportedWithdrawn = static_cast<SeatSet>(reportedWithdrawn | bitOf(seat));
        if (award.amount_cents() != fixedCents(tier, wager))
            addMistake(where(table, round.number, seat) + ": an award of " +
                       dollars(fixedCents(tier, wager)) + " is withdrawn with " +
                       dollars(award.amount_cents()));
        count(tier, award.amount_cents(), -1);
    }
    if (reportedReturned != returned || reportedWithdrawn != withdrawn)
        addMistake(where(table, round.number) + ": the daemon returned " +
                   std::to_string(countOf(reportedReturned)) + " wagers and withdrew " +
                   std::to_string(countOf(reportedWithdrawn)) + " awards; by the books " +
                   std::to_string(countOf(returned)) + " and " +
                   std::to_string(countOf(withdrawn)) + ", or other seats");
}

}  // namespace jackpot::floorsim
