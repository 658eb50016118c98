#include "tools/floorsim/books.h"

#include <algorithm>
#include <utility>

#include "storage/note.h"

namespace jackpot::floorsim {
namespace {

using What = v2::Command;

constexpr std::size_t kListedMistakes = 50;
// TableState lists at most this many.
constexpr int kMaxDue = 64;

Tiers tiersOf(const v2::ReportResult& result, Game game)
{
    Tiers tiers{};
    std::array<Card, 3> board{};
    const int boardCards = game == Game::BlazingSevens ? 1 : 3;
    if (result.board_size() != boardCards) return tiers;
    for (int i = 0; i < boardCards; ++i)
        board[static_cast<std::size_t>(i)] = cardOf(result.board(i)).value_or(0);
    for (const v2::Hand& hand : result.hands()) {
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
      shownCents_(pools.size()),
      confirmed_(pools.size()),
      held_(pools.size()),
      settled_(terms_.size()),
      verifier_{checks_.key}
{
    for (PoolTerms& pool : pools)
        pools_.emplace_back(
            std::move(pool), terms_.size(),
            [this](const JackpotAward& award) { expectAward(award); },
            [this](std::string what) { addMistake(std::move(what)); });
}

void Books::addMistake(std::string what)
{
    ++mistakeCount_;
    if (mistakes_.size() < kListedMistakes) mistakes_.push_back(std::move(what));
}

std::string Books::where(std::uint32_t table, std::int64_t round, int seat) const
{
    return "table " + terms_[table].id + ", round " + std::to_string(round) +
           (seat > 0 ? ", seat " + std::to_string(seat) : "");
}

void Books::sent(std::uint32_t table, const v2::Command& command, std::int64_t nowNs)
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
            for (const v2::Wager& wager : command.open_round().wagers())
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

void Books::received(std::uint32_t table, const v2::ToTable& frame, std::int64_t nowNs)
{
    switch (frame.message_case()) {
        case v2::ToTable::kDecisions: {
            bool isOld = false;
            for (const v2::Decision& decision : frame.decisions().decisions()) {
                if (decision.record() >= frame.decisions().receipt().size())
                    addMistake("table " + terms_[table].id + ": the receipt for " +
                               std::to_string(frame.decisions().receipt().size()) +
                               " records came with a decision in record " +
                               std::to_string(decision.record()));
                isOld = isOld || decision.again();
                handleDecision(table, decision, nowNs);
            }
            return handleReceipt(table, frame.decisions().receipt(), isOld);
        }
        case v2::ToTable::kSettlement:
            handleSettlement(table, frame.settlement());
            return handleReceipt(table, frame.settlement().receipt(), false);
        case v2::ToTable::kWelcome: {
            TableBook& book = tables_[table];
            const v2::Welcome& welcome = frame.welcome();
            auto key = storage::Verifier::parse(welcome.verifier());
            if (!key)
                addMistake("table " + terms_[table].id +
                           ": the Welcome has no verifier key: " + key.error().message);
            else if (!verifier_)
                verifier_ = *std::move(key);
            else if (verifier_->format() != welcome.verifier())
                addMistake("table " + terms_[table].id + ": the Welcome names the key " +
                           welcome.verifier() + ", not " + verifier_->format());
            const std::uint64_t decided =
                book.sent.empty() ? book.lastNumber : book.sent.front().number - 1;
            if (book.hasWelcome &&
                (welcome.last_number() < decided || welcome.last_number() > book.lastNumber))
                addMistake("table " + terms_[table].id + ": the daemon knows commands up to " +
                           std::to_string(welcome.last_number()) + ", but " +
                           std::to_string(decided) + " is decided and " +
                           std::to_string(book.lastNumber) + " was sent last");
            if (!book.hasWelcome) book.lastNumber = welcome.last_number();
            book.hasWelcome = true;
            return handleState(table, welcome.state());
        }
        case v2::ToTable::kState: return handleState(table, frame.state());
        case v2::ToTable::kPool: return handlePoolNews(table, frame.pool());
        case v2::ToTable::kRejected: ++totals_.rejected; return;
        case v2::ToTable::kGoodbye:
            ++totals_.goodbyes[v2::Goodbye::Why_Name(frame.goodbye().why())];
            return;
        default: return;
    }
}

// A repeated answer carries its original receipt, which is old.
void Books::handleReceipt(std::uint32_t table, const v2::Receipt& receipt, bool isOld)
{
    TableBook& book = tables_[table];
    ++totals_.receipts;
    if (receipt.size() < book.receiptSize && !isOld)
        addMistake("table " + terms_[table].id + ": a receipt for " +
                   std::to_string(receipt.size()) + " records came after one for " +
                   std::to_string(book.receiptSize));
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
        addMistake("table " + terms_[table].id + ": the receipt for " +
                   std::to_string(receipt.size()) +
                   " records is not signed: " + checkpoint.error().message);
    else if (checkpoint->size != receipt.size() || checkpoint->root.view() != receipt.root())
        addMistake("table " + terms_[table].id + ": the receipt says " +
                   std::to_string(receipt.size()) + " records, its signed note " +
                   std::to_string(checkpoint->size) + ", or another root");
}

// ---- jackpots
// --------------------------------------------------------------------------------------

void Books::handleSettlement(std::uint32_t table, const v2::Settlement& settlement)
{
    const std::uint32_t pool = terms_[table].pool;
    for (const v2::Award& award : settlement.awards()) addAward(table, award);
    Movement movement;
    movement.record = settlement.record();
    movement.shownCents = settlement.displayed_cents();
    movement.kind = Movement::Kind::Settled;
    for (const v2::Claim& claim : settlement.claims()) {
        handleClaim(table, claim);
        if (claim.state() != "settled" || movement.round == RoundKey{table, claim.round()})
            continue;
        movement.round = {table, claim.round()};
        if (hasBegun_) pending_.push_back(movement);
    }
    shownCents_[pool] = settlement.displayed_cents();
}

void Books::addAward(std::uint32_t table, const v2::Award& award)
{
    const auto tier = tierNamed(award.tier());
    if (!tier)
        return addMistake(where(table, award.round(), static_cast<int>(award.seat())) +
                          ": an award of an unknown tier: " + award.tier());
    addAward({{table, award.round()}, static_cast<int>(award.seat()), *tier}, award.amount_cents(),
             true);
}

// A reconnected table may see an award listed as due before it receives the decision that made it.
void Books::addAward(const AwardKey& key, std::int64_t cents, bool isAward)
{
    auto& settled = settled_[key.round.table];
    const auto before = settled.find(key);
    JackpotEntry& entry = before != settled.end() ? before->second : jackpots_[key];
    const std::string what =
        where(key.round.table, key.round.round, key.seat) + ": " + std::string{nameOf(key.tier)};
    if (isAward && entry.isAwarded) return addMistake(what + " was awarded twice");
    entry.isAwarded = entry.isAwarded || isAward;
    if (entry.reported) {
        if (*entry.reported != cents)
            addMistake(what + " was reported as " + dollars(*entry.reported) + ", and then as " +
                       dollars(cents));
        return;
    }
    entry.reported = cents;
    count(key.tier, cents);
    compare(key, entry);
}

void Books::expectAward(const JackpotAward& award)
{
    const AwardKey key{award.round, award.seat, award.tier};
    JackpotEntry& entry = jackpots_[key];
    entry.expected = award.cents;
    compare(key, entry);
}

void Books::compare(const AwardKey& key, const JackpotEntry& entry)
{
    if (!entry.expected || !entry.reported) return;
    if (*entry.expected != *entry.reported)
        addMistake(where(key.round.table, key.round.round, key.seat) + ": " +
                   std::string{nameOf(key.tier)} + " is awarded " + dollars(*entry.reported) +
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

void Books::handlePoolNews(std::uint32_t table, const v2::PoolNews& news)
{
    const std::uint32_t pool = terms_[table].pool;
    shownCents_[pool] = news.displayed_cents();
    if (news.pending() || news.held()) return;
    // Decisions on this link come in order, so this table's confirmed jackpots are settled.
    for (auto each = confirmed_[pool].begin(); each != confirmed_[pool].end();)
        each = each->first.table == table && each->second ? confirmed_[pool].erase(each)
                                                          : std::next(each);
}

void Books::handleState(std::uint32_t table, const v2::TableState& state)
{
    TableBook& book = tables_[table];
    book.state = state;
    handlePoolNews(table, state.pool());
    if (!hasBegun_) return;
    // Awards settled while this table had no link, or reported on a link that was lost.
    for (const v2::DueAward& due : state.due()) {
        const auto tier = tierNamed(due.tier());
        if (!tier || due.round() <= book.progress.firstRound) continue;
        addAward({{table, due.round()}, static_cast<int>(due.seat()), *tier}, due.amount_cents(),
                 false);
    }
}

void Books::clearStates()
{
    for (TableBook& book : tables_) book.state.reset();
}

void Books::begin()
{
    hasBegun_ = true;
    std::vector<bool> isOpening(pools_.size(), true);
    std::vector<const v2::TableState*> states(pools_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        TableBook& book = tables_[i];
        book.wagersBefore = book.state->wagers();
        book.progress.firstRound = book.state->round();
        if (book.state->last_number() != 0) isOpening[terms_[i].pool] = false;
        states[terms_[i].pool] = &*book.state;
    }
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        if (!states[i]) continue;
        const v2::PoolNews& news = states[i]->pool();
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
    std::ranges::sort(pending_, {}, &Movement::record);
    std::size_t done = 0;
    for (; done < pending_.size() && pending_[done].record < complete; ++done) {
        const Movement& movement = pending_[done];
        // One record can settle jackpots of several tables.
        if (movement.kind != Movement::Kind::Settled) {
            if (movement.record <= lastRecord_)
                addMistake("table " + terms_[movement.round.table].id + ": record " +
                           std::to_string(movement.record) + " is another command's");
            lastRecord_ = movement.record;
        }
        pools_[terms_[movement.round.table].pool].apply(movement);
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
}

void Books::end()
{
    for (std::uint32_t i = 0; i < tables_.size(); ++i) {
        const TableBook& book = tables_[i];
        const std::string id = "table " + terms_[i].id;
        if (!book.sent.empty())
            addMistake(id + ": " + std::to_string(book.sent.size()) +
                       " commands have no decision, the oldest is " +
                       std::to_string(book.sent.front().number));
        if (!book.state) {
            addMistake(id + ": the daemon sent no wager count at the end: is it running?");
            continue;
        }
        const v2::TableState& state = *book.state;
        if (state.wagers() != book.wagersBefore + book.wagers)
            addMistake(id + ": the daemon has counted " +
                       std::to_string(state.wagers() - book.wagersBefore) +
                       " wagers in this run, the books " + std::to_string(book.wagers));
        if (state.last_number() != book.lastNumber)
            addMistake(id + ": the daemon's last command is " +
                       std::to_string(state.last_number()) + ", that of the books " +
                       std::to_string(book.lastNumber));
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
        // The state lists only the oldest awards; a later one cannot be found in it.
        if (entry.expected && key.tier != Tier::Bonus && state && state->due_size() >= kMaxDue)
            ++totals_.awardsNotReported;
        else if (entry.expected)
            addMistake(where(key.round.table, key.round.round, key.seat) + ": " +
                       std::string{nameOf(key.tier)} + " wins " + dollars(*entry.expected) +
                       " by the books, and no award was reported");
        else if (pool.isChecked() && pool.rulings() == 0)
            addMistake(where(key.round.table, key.round.round, key.seat) + ": " +
                       std::string{nameOf(key.tier)} + " was awarded " + dollars(*entry.reported) +
                       ", and nothing by the books");
    }
}

}  // namespace jackpot::floorsim
