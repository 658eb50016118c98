#include "tools/floorsim/books.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "storage/note.h"

namespace jackpot::floorsim {
namespace {

using What = v1::Command;

constexpr std::size_t kListedMistakes = 50;
// As many as TableState lists.
constexpr int kMaxDue = 64;

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

// What an answer says, but for words to people.
std::size_t contentsOf(const v1::Decision& decision)
{
    std::size_t hash = decision.record();
    if (decision.has_refusal()) mix(hash, std::hash<std::string>{}(decision.refusal().code()));
    mixAwards(hash, decision.awards());
    mixAwards(hash, decision.withdrawn());
    mixAwards(hash, decision.refunds());
    if (!decision.has_refusal()) mix(hash, static_cast<std::size_t>(decision.displayed_cents()));
    return hash;
}

Tiers tiersOf(const v1::ReportResult& result, Game game)
{
    Tiers tiers{};
    std::array<Card, 3> board{};
    const int boardCards = game == Game::BlazingSevens ? 1 : 3;
    if (result.board_size() != boardCards) return tiers;
    for (int i = 0; i < boardCards; ++i)
        board[static_cast<std::size_t>(i)] = cardOf(result.board(i)).value_or(0);
    for (const v1::Hand& hand : result.hands()) {
        if (hand.cards_size() != 2 || hand.seat() < 1 || hand.seat() > kSeats) continue;
        const auto first = cardOf(hand.cards(0));
        const auto second = cardOf(hand.cards(1));
        if (!first || !second) continue;
        tiers[static_cast<std::size_t>(hand.seat())] =
            game == Game::BlazingSevens ? blazingSevens(board[0], *first, *second)
                                        : holdem(board, *first, *second);
    }
    return tiers;
}

}  // namespace

// ---- Latencies
// -------------------------------------------------------------------------------------

void Latencies::add(std::int64_t ns)
{
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 1));
    const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
    const std::size_t sub =
        power < kSubBits ? 0 : (value >> (power - kSubBits)) & ((1U << kSubBits) - 1);
    ++buckets_[(power << kSubBits) + sub];
    ++count_;
    maxNs_ = std::max(maxNs_, ns);
}

double Latencies::quantileUs(double quantile) const
{
    const auto wanted = static_cast<std::uint64_t>(quantile * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        seen += buckets_[i];
        if (seen <= wanted || buckets_[i] == 0) continue;
        const double low = static_cast<double>(std::uint64_t{1} << (i >> kSubBits));
        const double part =
            static_cast<double>(i & ((1U << kSubBits) - 1)) / static_cast<double>(1U << kSubBits);
        return low * (1 + part) / 1000;
    }
    return maxUs();
}

// ---- Books
// -----------------------------------------------------------------------------------------

bool Books::Round::hasClaim() const
{
    for (int seat = 1; seat <= kSeats; ++seat)
        if (has(standing, seat) && isJackpot(tiers[static_cast<std::size_t>(seat)])) return true;
    return false;
}

Books::Books(std::vector<PoolTerms> pools, std::vector<TableTerms> tables, Checks checks)
    : terms_{std::move(tables)},
      checks_{std::move(checks)},
      tables_(terms_.size()),
      told_(pools.size()),
      confirmed_(pools.size()),
      held_(pools.size()),
      settled_(terms_.size()),
      verifier_{checks_.key}
{
    for (PoolTerms& pool : pools)
        pools_.emplace_back(
            std::move(pool), terms_.size(), [this](const JackpotAward& award) { expected(award); },
            [this](std::string what) { mistake(std::move(what)); });
}

void Books::mistake(std::string what)
{
    ++mistakeCount_;
    if (mistakes_.size() < kListedMistakes) mistakes_.push_back(std::move(what));
}

std::string Books::where(std::uint32_t table, std::int64_t round, int seat) const
{
    return "table " + terms_[table].id + ", round " + std::to_string(round) +
           (seat > 0 ? ", seat " + std::to_string(seat) : "");
}

void Books::sent(std::uint32_t table, const v1::Command& command, std::int64_t nowNs)
{
    TableBook& book = tables_[table];
    Sent sent;
    sent.number = command.number();
    sent.what = command.what_case();
    sent.sentNs = nowNs;
    sent.notBefore = newestReceipt_;
    Progress& progress = book.progress;
    switch (sent.what) {
        case What::kOpenRound:
            sent.round = command.open_round().round();
            for (const v1::Wager& wager : command.open_round().wagers())
                sent.seats =
                    static_cast<SeatSet>(sent.seats | bitOf(static_cast<int>(wager.seat() & 15)));
            ++progress.rounds;
            progress.lastSeats = sent.seats;
            break;
        case What::kReportResult:
            sent.round = command.report_result().round();
            sent.tiers = tiersOf(command.report_result(), termsOf(table).game);
            break;
        case What::kConfirmJackpot:
            sent.round = command.confirm_jackpot().round();
            confirmed_[terms_[table].pool].emplace(RoundKey{table, sent.round}, false);
            break;
        case What::kVoidRound: sent.round = command.void_round().round(); break;
        case What::kVoidWager:
            sent.round = command.void_wager().round();
            sent.seats = bitOf(static_cast<int>(command.void_wager().seat() & 15));
            progress.lastSeats = static_cast<SeatSet>(progress.lastSeats & ~sent.seats);
            break;
        default: break;
    }
    if (sent.round != 0 && sent.what != What::kVoidWager) {
        progress.last = sent.what;
        progress.lastRound = sent.round;
        if (sent.what == What::kReportResult)
            progress.lastHasJackpot = std::ranges::any_of(sent.tiers, isJackpot);
    }
    book.lastNumber = sent.number;
    book.sent.push_back(sent);
    ++totals_.commands;
}

void Books::heard(std::uint32_t table, const v1::ToTable& frame, std::int64_t nowNs)
{
    switch (frame.message_case()) {
        case v1::ToTable::kDecisions: {
            bool isOld = false;
            for (const v1::Decision& decision : frame.decisions().decisions()) {
                if (decision.record() >= frame.decisions().receipt().size())
                    mistake("table " + terms_[table].id + ": the receipt for " +
                            std::to_string(frame.decisions().receipt().size()) +
                            " records came with a decision in record " +
                            std::to_string(decision.record()));
                isOld = isOld || decision.again();
                take(table, decision, nowNs);
            }
            return takeReceipt(table, frame.decisions().receipt(), isOld);
        }
        case v1::ToTable::kSettlement:
            take(table, frame.settlement());
            return takeReceipt(table, frame.settlement().receipt(), false);
        case v1::ToTable::kWelcome: {
            TableBook& book = tables_[table];
            const v1::Welcome& welcome = frame.welcome();
            auto key = storage::Verifier::parse(welcome.verifier());
            if (!key)
                mistake("table " + terms_[table].id +
                        ": the Welcome has no verifier key: " + key.error().message);
            else if (!verifier_)
                verifier_ = *std::move(key);
            else if (verifier_->format() != welcome.verifier())
                mistake("table " + terms_[table].id + ": the Welcome names the key " +
                        welcome.verifier() + ", not " + verifier_->format());
            const std::uint64_t decided =
                book.sent.empty() ? book.lastNumber : book.sent.front().number - 1;
            if (book.isWelcome &&
                (welcome.last_number() < decided || welcome.last_number() > book.lastNumber))
                mistake("table " + terms_[table].id + ": the daemon knows commands up to " +
                        std::to_string(welcome.last_number()) + ", but " + std::to_string(decided) +
                        " is decided and " + std::to_string(book.lastNumber) + " was sent last");
            if (!book.isWelcome) book.lastNumber = welcome.last_number();
            book.isWelcome = true;
            return takeState(table, welcome.state());
        }
        case v1::ToTable::kState: return takeState(table, frame.state());
        case v1::ToTable::kPool: return takeNews(table, frame.pool());
        case v1::ToTable::kRejected: ++totals_.rejected; return;
        case v1::ToTable::kGoodbye:
            ++totals_.goodbyes[v1::Goodbye::Why_Name(frame.goodbye().why())];
            return;
        default: return;
    }
}

// An answer that is given again comes with the receipt of its time: an old one.
void Books::takeReceipt(std::uint32_t table, const v1::Receipt& receipt, bool isOld)
{
    TableBook& book = tables_[table];
    ++totals_.receipts;
    if (receipt.size() < book.receiptSize && !isOld)
        mistake("table " + terms_[table].id + ": a receipt for " + std::to_string(receipt.size()) +
                " records came after one for " + std::to_string(book.receiptSize));
    book.receiptSize = std::max(book.receiptSize, receipt.size());
    newestReceipt_ = std::max(newestReceipt_, receipt.size());
    if (receipt.note() == verified_) return;
    if (!verifier_ || (checks_.verifyOneIn > 1 && totals_.receipts % checks_.verifyOneIn != 0))
        return;
    const auto note = storage::Note::parse(receipt.note());
    const auto checkpoint = note ? storage::openCheckpoint(*note, *verifier_)
                                 : Result<storage::Checkpoint>{note.error()};
    ++totals_.verified;
    verified_ = receipt.note();
    if (!checkpoint)
        mistake("table " + terms_[table].id + ": the receipt for " +
                std::to_string(receipt.size()) +
                " records is not signed: " + checkpoint.error().message);
    else if (checkpoint->size != receipt.size() || checkpoint->root.view() != receipt.root())
        mistake("table " + terms_[table].id + ": the receipt says " +
                std::to_string(receipt.size()) + " records, its signed note " +
                std::to_string(checkpoint->size) + ", or another root");
}

// ---- decisions
// -------------------------------------------------------------------------------------

void Books::takeAgain(std::uint32_t table, const v1::Decision& decision)
{
    ++totals_.again;
    const Answer& answer = tables_[table].answers[decision.number() % 64];
    if (answer.number != decision.number()) return;
    if (answer.record != decision.record() || answer.contents != contentsOf(decision))
        mistake("table " + terms_[table].id + ": command " + std::to_string(decision.number()) +
                " was answered once with record " + std::to_string(answer.record) +
                " and again with record " + std::to_string(decision.record()) +
                ", or with other contents");
}

void Books::take(std::uint32_t table, const v1::Decision& decision, std::int64_t nowNs)
{
    TableBook& book = tables_[table];
    const std::string& id = terms_[table].id;
    if (book.sent.empty() || decision.number() < book.sent.front().number) {
        if (decision.number() > book.lastNumber || !decision.again())
            return mistake("table " + id + ": a decision on command " +
                           std::to_string(decision.number()) + ", which was " +
                           (decision.number() > book.lastNumber ? "never sent" : "decided before"));
        return takeAgain(table, decision);
    }
    if (decision.number() > book.sent.front().number)
        return mistake("table " + id + ": a decision on command " +
                       std::to_string(decision.number()) + " came before that on " +
                       std::to_string(book.sent.front().number));
    const Sent sent = book.sent.front();
    book.sent.pop_front();
    if (decision.again())
        ++totals_.again;
    else
        latencies_.add(nowNs - sent.sentNs);
    if (decision.record() < sent.notBefore || decision.record() <= book.lastRecord)
        mistake("table " + id + ": command " + std::to_string(sent.number) + " is in record " +
                std::to_string(decision.record()) + ", which was there before it was sent");
    book.lastRecord = decision.record();
    book.answers[decision.number() % 64] = {decision.number(), decision.record(),
                                            contentsOf(decision)};
    if (!hasBegun_) return;  // tidying up before the books begin
    const std::uint32_t pool = terms_[table].pool;
    if (decision.has_refusal()) return takeRefusal(table, sent, decision);

    told_[pool] = decision.displayed_cents();
    Movement movement;
    movement.record = decision.record();
    movement.round = {table, sent.round};
    movement.shownCents = decision.displayed_cents();
    switch (sent.what) {
        case What::kOpenRound: takeOpened(book, sent, movement); break;
        case What::kReportResult: takeResult(table, sent, decision); break;
        case What::kConfirmJackpot: takeConfirmed(table, sent, decision, movement); break;
        case What::kVoidRound:
        case What::kVoidWager: takeVoid(table, sent, decision, movement); break;
        default: break;
    }
    waiting_.push_back(movement);
}

void Books::takeRefusal(std::uint32_t table, const Sent& sent, const v1::Decision& decision)
{
    const std::string& code = decision.refusal().code();
    Movement movement;
    movement.record = decision.record();
    movement.round = {table, sent.round};
    waiting_.push_back(movement);
    ++totals_.refusals[code];
    Round& round = tables_[table].round;
    if (sent.what == What::kOpenRound) {
        round = {};
        round.number = sent.round;
        round.isRefused = true;
    }
    if (sent.what == What::kConfirmJackpot)
        confirmed_[terms_[table].pool].erase({table, sent.round});
    // People, or a wrong count, suspend tables and pools; what follows of such a round is refused.
    const bool isExcused =
        code == "table_suspended" || code == "pool_suspended" || code == "not_suspended" ||
        (round.isRefused && round.number == sent.round && sent.what != What::kOpenRound);
    if (!isExcused)
        mistake(where(table, sent.round) + ": command " + std::to_string(sent.number) +
                " was refused: " + code +
                (decision.refusal().detail().empty() ? "" : ": " + decision.refusal().detail()));
}

void Books::takeOpened(TableBook& book, const Sent& sent, Movement& movement)
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

void Books::takeResult(std::uint32_t table, const Sent& sent, const v1::Decision& decision)
{
    Round& round = tables_[table].round;
    round.resultIn = true;
    round.tiers = sent.tiers;
    const std::int64_t wager = termsOf(table).wagerCents;
    int at = 0;
    int claims = 0;
    for (int seat = kSeats; seat >= 1; --seat) {
        const Tier tier = round.tiers[static_cast<std::size_t>(seat)];
        if (!has(round.standing, seat) || tier == Tier::None) continue;
        if (isJackpot(tier)) {
            ++claims;
            const bool isThere = std::ranges::any_of(decision.claims(), [&](const auto& claim) {
                return claim.seat() == seat && claim.tier() == nameOf(tier) &&
                       claim.state() == "claimed" && claim.round() == sent.round;
            });
            if (!isThere)
                mistake(where(table, sent.round, seat) + ": holds " + std::string{nameOf(tier)} +
                        ", and no claim was told");
            continue;
        }
        const std::int64_t cents = fixedCents(tier, wager);
        if (at >= decision.awards_size()) {
            mistake(where(table, sent.round, seat) + ": " + std::string{nameOf(tier)} + " pays " +
                    dollars(cents) + ", and no award was told");
            continue;
        }
        const v1::Award& award = decision.awards(at++);
        if (award.seat() != seat || award.tier() != nameOf(tier) || award.round() != sent.round ||
            award.amount_cents() != cents)
            mistake(where(table, sent.round, seat) + ": " + std::string{nameOf(tier)} + " pays " +
                    dollars(cents) + ", and told was " + award.tier() + " on seat " +
                    std::to_string(award.seat()) + " with " + dollars(award.amount_cents()));
        count(tier, award.amount_cents());
    }
    if (at < decision.awards_size())
        mistake(where(table, sent.round, static_cast<int>(decision.awards(at).seat())) +
                ": an award that nobody won was told: " + decision.awards(at).tier() + ", " +
                dollars(decision.awards(at).amount_cents()));
    if (decision.claims_size() > claims)
        mistake(where(table, sent.round) + ": more claims were told than hands won jackpots");
}

void Books::count(Tier tier, std::int64_t cents)
{
    Tally& tally = totals_.awards[static_cast<std::size_t>(tier)];
    ++tally.count;
    tally.cents += cents;
}

void Books::takeConfirmed(std::uint32_t table, const Sent& sent, const v1::Decision& decision,
                          Movement& movement)
{
    Round& round = tables_[table].round;
    round.isConfirmed = true;
    confirmed_[terms_[table].pool][{table, sent.round}] = true;
    movement.kind = Movement::Kind::Confirmed;
    movement.seats = round.standing;
    movement.tiers = round.tiers;
    for (const v1::Award& award : decision.awards()) told(table, award);
    for (const v1::Claim& claim : decision.claims()) takeClaim(table, claim);
}

void Books::takeClaim(std::uint32_t table, const v1::Claim& claim)
{
    const std::uint32_t pool = terms_[table].pool;
    const RoundKey key{table, claim.round()};
    if (claim.state() == "settled" || claim.state() == "dropped") {
        confirmed_[pool].erase(key);
    } else if (claim.state() == "held") {
        pools_[pool].hold(key);
        if (confirmed_[pool].erase(key) > 0) ++held_[pool];
    }
}

void Books::takeVoid(std::uint32_t table, const Sent& sent, const v1::Decision& decision,
                     Movement& movement)
{
    Round& round = tables_[table].round;
    const bool isHoldem = termsOf(table).game == Game::UltimateTexasHoldem;
    const bool isWhole = sent.what == What::kVoidRound;
    SeatSet returned = 0;
    SeatSet withdrawn = 0;
    for (int seat = 1; seat <= kSeats; ++seat) {
        if (!has(round.standing, seat) || (!isWhole && !has(sent.seats, seat))) continue;
        const Tier tier = round.tiers[static_cast<std::size_t>(seat)];
        const bool isDue = round.resultIn && tier != Tier::None && !isJackpot(tier);
        // Blackjack's interim settlement stands when a round is void (BJ 16.8).
        if (isDue && isWhole && !isHoldem) continue;
        returned = static_cast<SeatSet>(returned | bitOf(seat));
        if (isDue) withdrawn = static_cast<SeatSet>(withdrawn | bitOf(seat));
    }
    SeatSet toldReturned = 0;
    SeatSet toldWithdrawn = 0;
    const std::int64_t wager = termsOf(table).wagerCents;
    for (const v1::Refund& refund : decision.refunds()) {
        toldReturned = static_cast<SeatSet>(toldReturned | bitOf(static_cast<int>(refund.seat())));
        if (refund.amount_cents() != wager || refund.round() != sent.round)
            mistake(where(table, sent.round, static_cast<int>(refund.seat())) + ": the wager of " +
                    dollars(wager) + " is returned with " + dollars(refund.amount_cents()));
    }
    for (const v1::Award& award : decision.withdrawn()) {
        const int seat = static_cast<int>(award.seat());
        toldWithdrawn = static_cast<SeatSet>(toldWithdrawn | bitOf(seat));
        const Tier tier = round.tiers[static_cast<std::size_t>(seat % (kSeats + 1))];
        if (award.amount_cents() != fixedCents(tier, wager))
            mistake(where(table, sent.round, seat) + ": an award of " +
                    dollars(fixedCents(tier, wager)) + " is withdrawn with " +
                    dollars(award.amount_cents()));
        Tally& tally = totals_.awards[static_cast<std::size_t>(tier)];
        --tally.count;
        tally.cents -= award.amount_cents();
    }
    if (toldReturned != returned || toldWithdrawn != withdrawn)
        mistake(where(table, sent.round) + ": the void returned " +
                std::to_string(countOf(toldReturned)) + " wagers and withdrew " +
                std::to_string(countOf(toldWithdrawn)) + " awards; by the books " +
                std::to_string(countOf(returned)) + " and " + std::to_string(countOf(withdrawn)) +
                ", or other seats");
    round.standing = static_cast<SeatSet>(round.standing & ~returned);
    round.isVoid = round.isVoid || isWhole;
    ++(isWhole ? totals_.voidedRounds : totals_.voidedWagers);
    movement.kind = Movement::Kind::Returned;
    movement.seats = returned;
}

// ---- jackpots
// --------------------------------------------------------------------------------------

void Books::take(std::uint32_t table, const v1::Settlement& settlement)
{
    const std::uint32_t pool = terms_[table].pool;
    for (const v1::Award& award : settlement.awards()) told(table, award);
    Movement movement;
    movement.record = settlement.record();
    movement.shownCents = settlement.displayed_cents();
    movement.kind = Movement::Kind::Settled;
    for (const v1::Claim& claim : settlement.claims()) {
        takeClaim(table, claim);
        if (claim.state() != "settled" || movement.round == RoundKey{table, claim.round()})
            continue;
        movement.round = {table, claim.round()};
        if (hasBegun_) waiting_.push_back(movement);
    }
    told_[pool] = settlement.displayed_cents();
}

void Books::told(std::uint32_t table, const v1::Award& award)
{
    const auto tier = tierNamed(award.tier());
    if (!tier)
        return mistake(where(table, award.round(), static_cast<int>(award.seat())) +
                       ": an award of an unknown tier: " + award.tier());
    told({{table, award.round()}, static_cast<int>(award.seat()), *tier}, award.amount_cents(),
         true);
}

// A table that comes back may hear of an award as due before it hears the answer that made it.
void Books::told(const AwardKey& key, std::int64_t cents, bool isAward)
{
    auto& settled = settled_[key.round.table];
    const auto before = settled.find(key);
    JackpotEntry& entry = before != settled.end() ? before->second : jackpots_[key];
    const std::string what =
        where(key.round.table, key.round.round, key.seat) + ": " + std::string{nameOf(key.tier)};
    if (isAward && entry.isAwarded) return mistake(what + " was awarded twice");
    entry.isAwarded = entry.isAwarded || isAward;
    if (entry.told) {
        if (*entry.told != cents)
            mistake(what + " was told as " + dollars(*entry.told) + ", and then as " +
                    dollars(cents));
        return;
    }
    entry.told = cents;
    count(key.tier, cents);
    compare(key, entry);
}

void Books::expected(const JackpotAward& award)
{
    const AwardKey key{award.round, award.seat, award.tier};
    JackpotEntry& entry = jackpots_[key];
    entry.expected = award.cents;
    compare(key, entry);
}

void Books::compare(const AwardKey& key, const JackpotEntry& entry)
{
    if (!entry.expected || !entry.told) return;
    if (*entry.expected != *entry.told)
        mistake(where(key.round.table, key.round.round, key.seat) + ": " +
                std::string{nameOf(key.tier)} + " is awarded " + dollars(*entry.told) +
                ", and by the books " + dollars(*entry.expected));
    settled_[key.round.table].emplace(key, entry);
    jackpots_.erase(key);
}

std::size_t Books::jackpotsUnsettled() const
{
    std::size_t sum = 0;
    for (const auto& pool : confirmed_) sum += pool.size();
    return sum;
}

// ---- states
// ----------------------------------------------------------------------------------------

void Books::takeNews(std::uint32_t table, const v1::PoolNews& news)
{
    const std::uint32_t pool = terms_[table].pool;
    told_[pool] = news.displayed_cents();
    if (news.pending() || news.held()) return;
    // Decisions on this link come in order, so what this table has confirmed is settled.
    for (auto each = confirmed_[pool].begin(); each != confirmed_[pool].end();)
        each = each->first.table == table && each->second ? confirmed_[pool].erase(each)
                                                          : std::next(each);
}

void Books::takeState(std::uint32_t table, const v1::TableState& state)
{
    TableBook& book = tables_[table];
    book.state = state;
    takeNews(table, state.pool());
    if (!hasBegun_) return;
    // What was settled while this table had no link, or told on a link that was lost.
    for (const v1::DueAward& due : state.due()) {
        const auto tier = tierNamed(due.tier());
        if (!tier || due.round() <= book.progress.firstRound) continue;
        told({{table, due.round()}, static_cast<int>(due.seat()), *tier}, due.amount_cents(),
             false);
    }
}

void Books::forgetStates()
{
    for (TableBook& book : tables_) book.state.reset();
}

void Books::begin()
{
    hasBegun_ = true;
    std::vector<bool> isOpening(pools_.size(), true);
    std::vector<const v1::TableState*> states(pools_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        TableBook& book = tables_[i];
        book.wagersBefore = book.state->wagers();
        book.progress.firstRound = book.state->round();
        if (book.state->last_number() != 0) isOpening[terms_[i].pool] = false;
        states[terms_[i].pool] = &*book.state;
    }
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        if (!states[i]) continue;
        const v1::PoolNews& news = states[i]->pool();
        pools_[i].begin(news.displayed_cents(), isOpening[i], news.pending() || news.held());
    }
}

void Books::flush()
{
    std::uint64_t complete = ~std::uint64_t{0};
    for (const TableBook& book : tables_)
        if (!book.sent.empty())
            complete =
                std::min(complete, std::max(book.sent.front().notBefore, book.lastRecord + 1));
    std::ranges::sort(waiting_, {}, &Movement::record);
    std::size_t done = 0;
    for (; done < waiting_.size() && waiting_[done].record < complete; ++done) {
        const Movement& movement = waiting_[done];
        // A settlement can be told to several tables, and is made by one record.
        if (movement.kind != Movement::Kind::Settled) {
            if (movement.record <= lastRecord_)
                mistake("table " + terms_[movement.round.table].id + ": record " +
                        std::to_string(movement.record) + " is another command's");
            lastRecord_ = movement.record;
        }
        pools_[terms_[movement.round.table].pool].apply(movement);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(done));
}

void Books::end()
{
    for (std::uint32_t i = 0; i < tables_.size(); ++i) {
        const TableBook& book = tables_[i];
        const std::string id = "table " + terms_[i].id;
        if (!book.sent.empty())
            mistake(id + ": " + std::to_string(book.sent.size()) +
                    " commands have no decision, the oldest is " +
                    std::to_string(book.sent.front().number));
        if (!book.state) {
            mistake(id + ": did not say at the end what it has counted: is the daemon up?");
            continue;
        }
        const v1::TableState& state = *book.state;
        if (state.wagers() != book.wagersBefore + book.wagers)
            mistake(id + ": the daemon has counted " +
                    std::to_string(state.wagers() - book.wagersBefore) +
                    " wagers in this run, the books " + std::to_string(book.wagers));
        if (state.last_number() != book.lastNumber)
            mistake(id + ": the daemon's last command is " + std::to_string(state.last_number()) +
                    ", that of the books " + std::to_string(book.lastNumber));
    }
    for (std::uint32_t i = 0; i < pools_.size(); ++i) {
        for (std::uint32_t j = 0; j < tables_.size(); ++j) {
            if (terms_[j].pool != i || !tables_[j].state) continue;
            pools_[i].end(tables_[j].state->pool().displayed_cents());
            break;
        }
    }
    for (const auto& [key, entry] : jackpots_) {
        const auto& state = tables_[key.round.table].state;
        const PoolAccount& pool = pools_[terms_[key.round.table].pool];
        // The state lists the oldest awards; one beyond them can't be looked up any more.
        if (entry.expected && key.tier != Tier::Bonus && state && state->due_size() >= kMaxDue)
            ++totals_.awardsNotTold;
        else if (entry.expected)
            mistake(where(key.round.table, key.round.round, key.seat) + ": " +
                    std::string{nameOf(key.tier)} + " wins " + dollars(*entry.expected) +
                    " by the books, and no award was told");
        else if (pool.isChecked() && pool.rulings() == 0)
            mistake(where(key.round.table, key.round.round, key.seat) + ": " +
                    std::string{nameOf(key.tier)} + " was awarded " + dollars(*entry.told) +
                    ", and nothing by the books");
    }
}

}  // namespace jackpot::floorsim
