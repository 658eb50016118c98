#include "tools/floorsim/books.h"

#include <algorithm>
#include <set>
#include <utility>

#include "storage/note.h"

namespace jackpot::floorsim {
namespace {

using What = v2::Command;

constexpr std::size_t kListedMistakes = 50;

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

bool Books::Progress::lastHasJackpot() const
{
    for (int seat = 1; seat <= kSeats; ++seat)
        if (has(lastSeats, seat) && isJackpot(lastTiers[static_cast<std::size_t>(seat)]))
            return true;
    return false;
}

Books::Books(std::vector<PoolTerms> pools, std::vector<TableTerms> tables, Checks checks)
    : terms_{std::move(tables)},
      checks_{std::move(checks)},
      tables_(terms_.size()),
      shownCents_(pools.size()),
      winsBefore_(terms_.size()),
      pressDecidedNs_(pools.size()),
      verifier_{checks_.key}
{
    for (PoolTerms& pool : pools)
        pools_.emplace_back(std::move(pool),
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
            progress.lastTiers = {};
            break;
        case What::kReportResult:
        case What::kCorrectResult: {
            const v2::ReportResult& result = sent.what == What::kReportResult
                                                 ? command.report_result()
                                                 : command.correct_result().result();
            sent.round = result.round();
            sent.tiers = progress.lastTiers = tiersOf(result, termsOf(table).game);
            break;
        }
        case What::kConfirmJackpot:
            sent.round = command.confirm_jackpot().round();
            wins_[{table, sent.round}].pressedNs = nowNs;
            break;
        case What::kCloseRound: sent.round = command.close_round().round(); break;
        case What::kVoidRound:
            sent.round = command.void_round().round();
            sent.ground = command.void_round().ground();
            break;
        case What::kVoidWager:
            sent.round = command.void_wager().round();
            sent.seats = bitOf(static_cast<int>(command.void_wager().seat() & 15));
            progress.lastSeats = static_cast<SeatSet>(progress.lastSeats & ~sent.seats);
            break;
        case What::kSuspend:
            sent.round = progress.lastRound;
            sent.ground = command.suspend().ground();
            break;
        default: break;
    }
    if (sent.round != 0 && sent.what != What::kVoidWager) {
        progress.last = sent.what;
        progress.lastRound = sent.round;
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
            handleSettlement(table, frame.settlement(), nowNs);
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

// ---- states
// ----------------------------------------------------------------------------------------

void Books::handlePoolNews(std::uint32_t table, const v2::PoolNews& news)
{
    shownCents_[terms_[table].pool] = news.displayed_cents();
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
        std::set<std::int64_t> rounds;
        for (const v2::Claim& claim : book.state->claims())
            if (claim.state() != "claimed") rounds.insert(claim.round());
        winsBefore_[i] = rounds.size();
        if (book.state->last_number() != 0) isOpening[terms_[i].pool] = false;
        states[terms_[i].pool] = &*book.state;
    }
    for (std::size_t i = 0; i < pools_.size(); ++i) {
        if (!states[i]) continue;
        const v2::PoolNews& news = states[i]->pool();
        pools_[i].begin(news.displayed_cents(), isOpening[i]);
    }
}

void Books::flush()
{
    std::uint64_t complete = ~std::uint64_t{0};
    for (const TableBook& book : tables_)
        if (!book.sent.empty())
            complete =
                std::min(complete, std::max(book.sent.front().notBefore, book.lastRecord + 1));
    std::ranges::stable_sort(pending_, {}, [](const Movement& movement) {
        return std::pair{movement.record, movement.kind};
    });
    std::ranges::stable_sort(reports_, {}, &Report::record);
    while (true) {
        std::uint64_t next = complete;
        if (!pending_.empty()) next = std::min(next, pending_.front().record);
        if (!reports_.empty()) next = std::min(next, reports_.front().record);
        if (next == complete) return;
        applyRecord(next);
    }
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
        endWins(i, state);
    }
    for (std::uint32_t i = 0; i < pools_.size(); ++i) {
        for (std::uint32_t j = 0; j < tables_.size(); ++j) {
            if (terms_[j].pool != i || !tables_[j].state) continue;
            pools_[i].end(tables_[j].state->pool().displayed_cents());
            break;
        }
    }
}

}  // namespace jackpot::floorsim
