#include "audit/history.h"

#include <algorithm>
#include <array>
#include <set>

#include "audit/describe.h"
#include "rules/outcome.h"

namespace jackpot::audit {
namespace {

using rules::Money;

// Those of the journal as a whole concern every pool.
constexpr std::array kWholeKinds{std::string_view{"site_configured"},
                                 std::string_view{"journal_opened"},
                                 std::string_view{"key_rotated"}};
constexpr std::array kPoolKinds{
    std::string_view{"pool_change_agreed"}, std::string_view{"pool_suspended"},
    std::string_view{"pool_resumed"},       std::string_view{"pool_adjusted"},
    std::string_view{"table_suspended"},    std::string_view{"table_resumed"},
    std::string_view{"award_withheld"}};

struct Numbered {
    std::uint64_t number = 0;
    HistoryPoint point;
};

// Makes few points of many.
class Trace {
public:
    Trace(TimeMs firstMs, TimeMs lastMs) : firstMs_{firstMs}, lastMs_{lastMs} {}

    void add(const HistoryPoint& point, bool isEvent)
    {
        if (previous_ && previous_->displayed == point.displayed && !isEvent) return;
        const std::int64_t part = partOf(point.timeMs);
        if (part != part_) endPart();
        part_ = part;
        if (isEvent && now_) kept_.push_back(now_->last);
        const Numbered next{count_++, point};
        if (!now_) now_ = Part{next, next, next, next};
        if (point.displayed < now_->low.point.displayed) now_->low = next;
        if (point.displayed > now_->high.point.displayed) now_->high = next;
        now_->last = next;
        if (isEvent) kept_.push_back(next);
        previous_ = point;
    }

    [[nodiscard]] const std::optional<HistoryPoint>& previous() const { return previous_; }

    std::vector<HistoryPoint> take()
    {
        endPart();
        return std::move(points_);
    }

private:
    struct Part {
        Numbered first;
        Numbered low;
        Numbered high;
        Numbered last;
    };

    // What was altered can have any times.
    [[nodiscard]] std::int64_t partOf(TimeMs timeMs) const
    {
        const TimeMs length = std::max<TimeMs>(lastMs_ - firstMs_, 1);
        return std::clamp<TimeMs>(timeMs - firstMs_, 0, length) * kHistoryParts / length;
    }

    void endPart()
    {
        if (!now_) return;
        // Between what stood before and what stands after, only what goes beyond both shows.
        const Numbered& last = now_->last;
        const Numbered before = before_.value_or(now_->first);
        if (!before_) kept_.push_back(now_->first);
        if (now_->low.point.displayed < std::min(before.point.displayed, last.point.displayed))
            kept_.push_back(now_->low);
        if (now_->high.point.displayed > std::max(before.point.displayed, last.point.displayed))
            kept_.push_back(now_->high);
        kept_.push_back(last);
        before_ = last;
        std::ranges::sort(kept_, {}, &Numbered::number);
        const auto same = std::ranges::unique(kept_, {}, &Numbered::number);
        kept_.erase(same.begin(), same.end());
        for (const Numbered& each : kept_) points_.push_back(each.point);
        kept_.clear();
        now_.reset();
    }

    TimeMs firstMs_;
    TimeMs lastMs_;
    std::uint64_t count_ = 0;
    std::int64_t part_ = 0;
    std::optional<Numbered> before_;  // the last one of the part before
    std::optional<Part> now_;
    std::vector<Numbered> kept_;
    std::optional<HistoryPoint> previous_;
    std::vector<HistoryPoint> points_;
};

class Collector {
public:
    Collector(const ReportRequest& request, const std::vector<std::string>& pools, TimeMs firstMs,
              TimeMs lastMs)
        : request_{request}
    {
        history_.firstMs = firstMs;
        history_.lastMs = lastMs;
        for (const std::string& pool : pools) {
            history_.pools.try_emplace(pool);
            traces_.try_emplace(pool, firstMs, lastMs);
        }
    }

    void startWith(const rules::State& state)
    {
        for (const rules::Pool& pool : state.pools) {
            const auto found = history_.pools.find(pool.config.id);
            if (found == history_.pools.end()) continue;
            found->second.config = pool.config;
            found->second.suspended = pool.suspended;
            found->second.meter = pool.meter;
            found->second.reserve = pool.reserve;
            known_.insert(pool.config.id);
        }
    }

    void add(const Payload& record)
    {
        const bool counts = request_.period.contains(record.timeMs());
        if (counts && !begun_) begin();
        if (!record.isRefused()) follow(record);
        for (const storage::RecordedPool& each : record.outcome().pools) move(record, each, counts);
        if (counts) note(record);
    }

    History take()
    {
        for (auto& [pool, trace] : traces_) history_.pools.at(pool).points = trace.take();
        return std::move(history_);
    }

private:
    // The period begins with what the pools then displayed.
    void begin()
    {
        begun_ = true;
        for (auto& [id, pool] : history_.pools)
            if (known_.contains(id)) trace(id, pool, *history_.firstMs, false);
    }

    void trace(const std::string& id, PoolHistory& pool, TimeMs timeMs, bool isEvent)
    {
        const HistoryPoint point{timeMs, pool.meter.roundedDownToCent()};
        Trace& trace = traces_.at(id);
        const bool isFirst = !trace.previous();
        if (isFirst || point.displayed < pool.lowest.displayed) pool.lowest = point;
        if (isFirst || point.displayed > pool.highest.displayed) pool.highest = point;
        trace.add(point, isEvent);
    }

    // What a pool is: configured, changed, suspended.
    void follow(const Payload& record)
    {
        if (const auto* configured = record.commandAs<rules::ConfigureSite>())
            for (const rules::PoolConfig& config : configured->site.pools)
                if (const auto found = history_.pools.find(config.id);
                    found != history_.pools.end() && !found->second.config)
                    found->second.config = config;
        const bool isSuspended = record.commandAs<rules::SuspendPool>() != nullptr;
        if (isSuspended || record.commandAs<rules::ResumePool>())
            if (const auto found = history_.pools.find(record.pool());
                found != history_.pools.end())
                found->second.suspended = isSuspended;
        const auto& change = record.outcome().parameters;
        if (!change || change->state != rules::ParametersState::InForce) return;
        const auto found = history_.pools.find(change->pool);
        if (found != history_.pools.end() && found->second.config)
            found->second.config = rules::withParameters(*found->second.config, change->to);
    }

    void move(const Payload& record, const storage::RecordedPool& moved, bool counts)
    {
        const auto found = history_.pools.find(moved.pool);
        if (found == history_.pools.end()) return;
        auto& [id, pool] = *found;
        HistoryEvent event{
            record.seq(), record.timeMs(), false, false, pool.meter.roundedDownToCent(), {}};
        pool.meter = moved.meter;
        pool.reserve = moved.reserve;
        const bool isNew = known_.insert(id).second;
        if (!counts) return;
        event.after = pool.meter.roundedDownToCent();
        event.reset = !isNew && moved.isSeeded();
        // Jackpots are settled for one pool at a time.
        event.win = record.outcome().hasJackpot();
        trace(id, pool, record.timeMs(), event.win || event.reset);
        if (event.win || event.reset) pool.events.push_back(event);
    }

    void note(const Payload& record)
    {
        const bool whole = std::ranges::find(kWholeKinds, record.kind()) != kWholeKinds.end();
        const bool ofPool = std::ranges::find(kPoolKinds, record.kind()) != kPoolKinds.end();
        if (!whole && !ofPool && !record.outcome().parameters) return;
        if (!whole && !request_.pool.empty() && !record.concernsPool(request_.pool)) return;
        Incident incident{record.seq(),
                          record.timeMs(),
                          record.kind(),
                          {happenedInWords(record)},
                          std::string{record.refusal()}};
        for (std::string& change : changesInWords(record))
            incident.words.push_back(std::move(change));
        history_.incidents.push_back(std::move(incident));
    }

    const ReportRequest& request_;
    History history_;
    std::map<std::string, Trace, std::less<>> traces_;
    std::set<std::string, std::less<>> known_;  // pools that there are by now
    bool begun_ = false;
};

TimeMs timeOf(JournalView& journal, std::uint64_t seq)
{
    Payload record;
    record.parse(seq, journal.payload(seq));
    return record.timeMs();
}

}  // namespace

History collectHistory(JournalView& journal, const ReportRequest& request,
                       const std::vector<std::string>& pools)
{
    const std::uint64_t from =
        request.period.hasFrom ? journal.firstNotBefore(request.period.fromMs) : journal.first();
    const std::uint64_t to =
        request.period.hasTo ? journal.firstNotBefore(request.period.toMs) : journal.end();
    const bool empty = from >= to;
    Collector collector{request, pools, empty ? 0 : timeOf(journal, from),
                        empty ? 0 : timeOf(journal, to - 1)};
    // Like the reconciliation: the state before the period comes from a snapshot, or from the
    // records since the beginning.
    const auto start = journal.startBefore(std::min(from, journal.end() - 1));
    collector.startWith(start.state);
    Payload record;
    journal.forEach(start.seq, std::max(start.seq, to),
                    [&](std::uint64_t seq, std::string_view payload) {
                        record.parse(seq, payload);
                        collector.add(record);
                        return true;
                    });
    History history = collector.take();
    if (empty) history.firstMs.reset();
    return history;
}

}  // namespace jackpot::audit
