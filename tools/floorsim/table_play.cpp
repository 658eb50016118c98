// The dealer of a table: which command comes next, by the plan of the round.
#include <algorithm>

#include "tools/floorsim/table.h"

namespace jackpot::floorsim {
namespace {

using What = v2::Command;

constexpr std::size_t kMaxDuplicated = 12;  // the link allows 32 commands in flight
constexpr std::int64_t kNotReadingMs = 20;  // enough for the daemon to answer
constexpr char kSupervisor[] = "floorsim";

}  // namespace

bool FloorTable::isIdle() const
{
    return step_ == Step::Idle && wrongCount_ == WrongCount::None &&
           floor_.books.undecided(index_) == 0;
}

void FloorTable::enterOutbox(const Now& now)
{
    for (const auto& entry : session_.outbox().entries()) {
        if (entry.number <= floor_.books.lastNumber(index_)) continue;
        if (!command_.ParseFromString(entry.command)) continue;
        floor_.books.sent(index_, command_, now.ns);
        if (floor_.log) floor_.log->add(FloorLog::Kind::Sent, index_, entry.command);
    }
}

// Finds the dealer's step from the commands that were sent.
void FloorTable::restoreStep()
{
    const Books::Progress& progress = floor_.books.progress(index_);
    isStepRestored_ = true;
    round_ = std::max(progress.firstRound, progress.lastRound);
    step_ = Step::Idle;
    hasPlan_ = false;
    if (progress.last == What::kOpenRound) {
        plan_ = planOf(floor_.settings.plan, planTable_, round_, progress.rounds,
                       floor_.books.openWins(index_), progress.lastSeats);
        plan_.lateResult = false;
        plan_.misread.reset();
        plan_.voids = RoundPlan::Void::None;
        plan_.suspend = RoundPlan::Suspend::None;
        step_ = Step::Opened;
    } else if ((progress.last == What::kReportResult || progress.last == What::kCorrectResult) &&
               progress.lastHasJackpot()) {
        plan_ = {};
        step_ = Step::Won;
    } else if (progress.last == What::kSuspend) {
        step_ = Step::ToResume;
    }
}

void FloorTable::prepareForRun(const Now& now)
{
    const auto state = floor_.books.stateOf(index_);
    if (!state || floor_.books.undecided(index_) > 0) return;
    if (state->suspended_by_desk())
        floor_.addNote("table " + terms_.id + ": only the desk can end its suspension");
    else if (state->suspended())
        resume(now, "a new run");
    const bool isClaimed = std::ranges::any_of(
        state->claims(), [](const v2::Claim& claim) { return claim.state() == "claimed"; });
    const bool isOpen = state->round_opened() && !state->voided() && !state->closed();
    if (isOpen && (!state->result_in() || isClaimed)) {
        round_ = state->round();
        voidRound(now, v2::VoidRound::DEALING_ERROR);
    }
    flush(now);
}

bool FloorTable::send(v2::Command& command, const Now& now)
{
    const auto number = session_.enqueue(command, now.clock);
    if (!number) {
        floor_.addNote("table " + terms_.id + ": " + number.error().message);
        return false;
    }
    floor_.books.sent(index_, command, now.ns);
    if (floor_.log)
        floor_.log->add(FloorLog::Kind::Sent, index_, session_.outbox().entries().back().command);
    if (wantsDuplicate_ && link_ == Link::Open && session_.inFlight() <= kMaxDuplicated) {
        wantsDuplicate_ = false;
        const std::size_t before = out_.size();
        session_.takeOutput(out_);
        if (out_.size() > before) {
            out_ += std::string{out_, before};
            ++floor_.injected.duplicates;
        }
    }
    return true;
}

void FloorTable::play(const Now& now)
{
    if (!floor_.books.hasBegun() || !floor_.mayFinish) return flush(now);
    if (!isStepRestored_) restoreStep();
    while (floor_.books.undecided(index_) < floor_.settings.inFlight && !wantsDrop_ &&
           playOne(now)) {
    }
    if (wantsDrop_) return drop(now);
    flush(now);
    if (wantsReadPause_ && link_ == Link::Open && outAt_ == out_.size()) {
        watch(0);
        link_ = Link::NotReading;
        deadlineMs_ = now.clock.bootMs + kNotReadingMs;
    }
}

bool FloorTable::playOne(const Now& now)
{
    if (wrongCount_ != WrongCount::None) {
        playWrongCount(now);
        return false;
    }
    switch (step_) {
        case Step::Idle: return open(now);
        case Step::Opened:
            if (plan_.voids == RoundPlan::Void::BeforeResult)
                return voidRound(now, plan_.voidGround);
            if (plan_.voids == RoundPlan::Void::OneWager) return voidWager(now);
            if (plan_.suspend == RoundPlan::Suspend::BeforeResult) return suspend(now);
            [[fallthrough]];
        case Step::Ready:
            if (plan_.lateResult && !hasDropped_) {
                if (floor_.books.undecided(index_) > 0) return false;
                ++floor_.injected.lateResults;
                hasDropped_ = true;
                if (link_ != Link::Down) drop(now);
            }
            return report(now);
        case Step::ToCorrect: return correct(now);
        case Step::Reported: return playReported(now);
        case Step::Won: return confirm(now);
        case Step::ToClose: return closeRound(now);
        case Step::ToSuspend: return suspend(now);
        case Step::ToResume: return resume(now, "repaired");
    }
    return false;
}

// After the result, without a jackpot.
bool FloorTable::playReported(const Now& now)
{
    if (plan_.voids == RoundPlan::Void::AfterResult) return voidRound(now, plan_.voidGround);
    if (plan_.voids == RoundPlan::Void::OneAfterResult && has(plan_.seats, plan_.voidSeat))
        return voidWager(now);
    if (plan_.suspend == RoundPlan::Suspend::AfterResult) return suspend(now);
    const bool isBetween = plan_.suspend == RoundPlan::Suspend::BetweenRounds;
    step_ = plan_.closes || isBetween ? Step::ToClose : Step::Idle;
    return true;
}

bool FloorTable::isDue(const Now& now) const
{
    const auto& settings = floor_.settings;
    if (!floor_.isPlaying) return false;
    if (settings.plan.rounds && floor_.books.progress(index_).rounds >= *settings.plan.rounds)
        return false;
    return now.ns >= nextRoundNs_;
}

bool FloorTable::open(const Now& now)
{
    if (!isDue(now)) return false;
    if (session_.isSuspended() && floor_.settings.plan.faults.wrongCount > 0 &&
        floor_.books.undecided(index_) == 0) {
        wrongCount_ = WrongCount::Reported;
        wrongCountDeadlineMs_ = now.clock.bootMs + floor_.settings.timeoutS * 1000;
        return false;
    }
    if (!session_.mayTakeWagers(now.clock)) return false;
    const auto& settings = floor_.settings;
    if (!hasPlan_) {
        plan_ = planOf(settings.plan, planTable_, round_ + 1,
                       floor_.books.progress(index_).rounds + 1, floor_.books.openWins(index_));
        hasPlan_ = true;
        hasPlayedWrongCount_ = hasDropped_ = false;
    }
    if (plan_.wrongCount && !hasPlayedWrongCount_) {
        if (floor_.books.undecided(index_) == 0) playWrongCount(now);
        return false;
    }
    v2::OpenRound& open = *opening_.mutable_open_round();
    open.Clear();
    open.set_round(round_ + 1);
    for (int seat = 1; seat <= terms_.seats; ++seat) {
        if (!has(plan_.seats, seat)) continue;
        v2::Wager& wager = *open.add_wagers();
        wager.set_seat(seat);
        if (terms_.requirePlayerCard) wager.set_player_card(terms_.id + "-" + std::to_string(seat));
    }
    wantsDuplicate_ = plan_.duplicate;
    if (!send(opening_, now)) return false;
    ++round_;
    hasPlan_ = false;
    step_ = Step::Opened;
    if (plan_.isForced) ++floor_.injected.forcedJackpots;
    if (settings.roundsPerMinute) {
        const auto interval = static_cast<std::int64_t>(60e9 / *settings.roundsPerMinute);
        // Spread the tables' first rounds over the interval.
        if (nextRoundNs_ == 0)
            nextRoundNs_ = now.ns + static_cast<std::int64_t>(planTable_.salt %
                                                              static_cast<std::uint64_t>(interval));
        else
            nextRoundNs_ = std::max(nextRoundNs_ + interval, now.ns);
    }
    if (plan_.disconnect) {
        ++floor_.injected.disconnects;
        wantsDrop_ = true;
    }
    return true;
}

void FloorTable::writeResult(const Deal& deal, v2::ReportResult& result) const
{
    result.Clear();
    result.set_round(round_);
    const std::size_t boardCards = planTable_.game == Game::BlazingSevens ? 1 : 3;
    for (std::size_t i = 0; i < boardCards; ++i) result.add_board(textOf(deal.board[i]));
    for (int seat = 1; seat <= terms_.seats; ++seat) {
        if (!has(plan_.seats, seat)) continue;
        v2::Hand& hand = *result.add_hands();
        hand.set_seat(seat);
        for (const Card card : deal.hands[static_cast<std::size_t>(seat)])
            hand.add_cards(textOf(card));
    }
}

bool FloorTable::hasWon() const
{
    for (int seat = 1; seat <= terms_.seats; ++seat)
        if (has(plan_.seats, seat) && isJackpot(plan_.dealt.tiers[static_cast<std::size_t>(seat)]))
            return true;
    return false;
}

bool FloorTable::report(const Now& now)
{
    writeResult(plan_.misread.value_or(plan_.dealt), *result_.mutable_report_result());
    if (!send(result_, now)) return false;
    step_ = plan_.misread ? Step::ToCorrect : hasWon() ? Step::Won : Step::Reported;
    if (plan_.resend && link_ == Link::Open) {
        ++floor_.injected.resends;
        wantsReadPause_ = true;
    }
    return true;
}

bool FloorTable::correct(const Now& now)
{
    command_.Clear();
    writeResult(plan_.dealt, *command_.mutable_correct_result()->mutable_result());
    command_.mutable_correct_result()->set_by(kSupervisor);
    if (!send(command_, now)) return false;
    ++floor_.injected.corrections;
    step_ = hasWon() ? Step::Won : Step::Reported;
    return true;
}

// A dealer sees the claim before the press; and without --simultaneous waits for other tables,
// because ties are held for a ruling, and nobody gives one here.
bool FloorTable::confirm(const Now& now)
{
    if (floor_.books.undecided(index_) > 0) return false;
    if (!floor_.settings.simultaneous && !floor_.books.mayPress(index_, now.ns)) return false;
    if (plan_.latePress && link_ != Link::Down) {
        ++floor_.injected.latePresses;
        drop(now);
    }
    command_.Clear();
    command_.mutable_confirm_jackpot()->set_round(round_);
    if (!send(command_, now)) return false;
    step_ = plan_.closes ? Step::ToClose : Step::Idle;
    return true;
}

bool FloorTable::closeRound(const Now& now)
{
    command_.Clear();
    command_.mutable_close_round()->set_round(round_);
    if (!send(command_, now)) return false;
    step_ = plan_.suspend == RoundPlan::Suspend::BetweenRounds ? Step::ToSuspend : Step::Idle;
    return true;
}

bool FloorTable::suspend(const Now& now)
{
    command_.Clear();
    v2::Suspend& suspend = *command_.mutable_suspend();
    suspend.set_ground(plan_.suspend == RoundPlan::Suspend::BetweenRounds
                           ? v2::Suspend::CLOSED
                           : v2::Suspend::MALFUNCTION);
    suspend.set_by(kSupervisor);
    if (!send(command_, now)) return false;
    ++floor_.injected.suspends;
    step_ = Step::ToResume;
    return true;
}

bool FloorTable::resume(const Now& now, const char* reason)
{
    command_.Clear();
    command_.mutable_resume()->set_reason(reason);
    command_.mutable_resume()->set_by(kSupervisor);
    if (!send(command_, now)) return false;
    step_ = Step::Idle;
    return true;
}

bool FloorTable::voidRound(const Now& now, int ground)
{
    command_.Clear();
    v2::VoidRound& round = *command_.mutable_void_round();
    round.set_round(round_);
    round.set_ground(static_cast<v2::VoidRound::Ground>(ground));
    round.set_by(kSupervisor);
    if (!send(command_, now)) return false;
    if (floor_.books.hasBegun()) ++floor_.injected.voids;
    step_ = Step::Idle;
    return true;
}

bool FloorTable::voidWager(const Now& now)
{
    command_.Clear();
    v2::VoidWager& wager = *command_.mutable_void_wager();
    wager.set_round(round_);
    wager.set_seat(plan_.voidSeat);
    wager.set_ground(static_cast<v2::VoidWager::Ground>(plan_.voidGround));
    wager.set_by(kSupervisor);
    if (!send(command_, now)) return false;
    ++floor_.injected.voids;
    plan_.seats = static_cast<SeatSet>(plan_.seats & ~bitOf(plan_.voidSeat));
    step_ = step_ == Step::Opened ? Step::Ready : Step::Reported;
    return true;
}

// Reports a wrong count of wagers, expects to be suspended, and resumes.
void FloorTable::playWrongCount(const Now& now)
{
    const bool isAllDecided = floor_.books.undecided(index_) == 0;
    switch (wrongCount_) {
        case WrongCount::None: {
            if (link_ != Link::Open || !isAllDecided) return;
            v2::ToDaemon message;
            message.mutable_heartbeat()->set_clock_ms(now.clock.wallMs);
            message.mutable_heartbeat()->set_wagers(session_.outbox().memory().wagers + 1);
            message.mutable_heartbeat()->set_as_of(session_.outbox().memory().counted);
            flush(now);
            linkproto::appendFrame(out_, message);
            ++floor_.injected.wrongCounts;
            wrongCount_ = WrongCount::Reported;
            wrongCountDeadlineMs_ = now.clock.bootMs + floor_.settings.timeoutS * 1000;
            return;
        }
        case WrongCount::Reported:
            if (session_.isSuspended()) {
                if (resume(now, "wagers counted again")) wrongCount_ = WrongCount::Resuming;
            } else if (now.clock.bootMs >= wrongCountDeadlineMs_) {
                floor_.books.addMistake("table " + terms_.id +
                                        ": reported a wrong count of wagers and was not suspended");
                hasPlayedWrongCount_ = true;
                wrongCount_ = WrongCount::None;
            }
            return;
        case WrongCount::Resuming:
            if (!isAllDecided || !session_.isOnline()) return;
            session_.query(now.clock);
            wrongCount_ = WrongCount::Querying;
            return;
        case WrongCount::Querying:
            if (session_.isSuspended()) return;
            hasPlayedWrongCount_ = true;
            wrongCount_ = WrongCount::None;
            return;
    }
}

}  // namespace jackpot::floorsim
