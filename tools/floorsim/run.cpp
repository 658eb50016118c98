#include "tools/floorsim/run.h"

#include <netdb.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <mutex>

#include "linkproto/client/table_link.h"
#include "rules/site.h"
#include "tools/floorsim/log.h"
#include "tools/floorsim/table.h"

namespace jackpot::floorsim {
namespace {

constexpr int kTickMs = 5;
constexpr std::int64_t kFlushNs = 50'000'000;
constexpr std::int64_t kShowNs = 500'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr const char* kBooksFile = "books.log";

Result<std::vector<std::uint8_t>> addressOf(const std::string& host, std::uint16_t port)
{
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
        error != 0)
        return Error{host + ": " + ::gai_strerror(error)};
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(found->ai_addr);
    std::vector<std::uint8_t> address(bytes, bytes + found->ai_addrlen);
    ::freeaddrinfo(found);
    return address;
}

double cpuSeconds()
{
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Each connection needs one descriptor, each outbox two.
void raiseDescriptorLimit()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

net::TlsFiles filesOf(const FloorSettings& settings, const std::string& table)
{
    return {.certificate = settings.pki / "table" / (table + ".pem"),
            .key = settings.pki / "table" / (table + ".key"),
            .ca = settings.pki / "ca.pem",
            .crl = std::nullopt};
}

// Without a configuration: connects each table in turn and reads its terms from the daemon.
Result<void> queryTerms(FloorSettings& settings)
{
    for (TableTerms& table : settings.tables) {
        const net::TlsFiles files = filesOf(settings, table.id);
        std::string why = "no answer";
        std::mutex mutex;
        auto link = link::TableLink::open({.host = settings.host,
                                           .port = settings.port,
                                           .table = table.id,
                                           .certificate = files.certificate,
                                           .key = files.key,
                                           .ca = files.ca,
                                           .software = "floorsim"},
                                          {.onOffline = [&](const std::string& reason) {
                                              const std::scoped_lock lock{mutex};
                                              why = reason;
                                          }});
        if (!link) return Error{"table " + table.id + ": " + link.error().message};
        if (!(*link)->waitOnline(std::chrono::seconds{settings.timeoutS})) {
            const std::scoped_lock lock{mutex};
            return Error{"table " + table.id + ": " + why + ": is jackpotd at " + settings.host +
                         ":" + std::to_string(settings.port) + ", and does it know this table?"};
        }
        const link::TableState state = (*link)->state();
        table.seats = static_cast<int>(state.seats);
        table.requirePlayerCard = state.requirePlayerCard;
        const auto found = std::ranges::find(settings.pools, state.pool.pool, &PoolTerms::id);
        table.pool = static_cast<std::uint32_t>(found - settings.pools.begin());
        if (found != settings.pools.end()) continue;
        PoolTerms pool;
        pool.id = state.pool.pool;
        pool.game = state.game == rules::idOf(Game::BlazingSevens) ? Game::BlazingSevens
                                                                   : Game::UltimateTexasHoldem;
        pool.wagerCents = state.wagerCents;
        if (pool.game == Game::BlazingSevens) {
            pool.windowMs = rules::kDefaultWindowMs;
            pool.settleAfterMs = rules::kDefaultSettleAfterMs;
        }
        settings.pools.push_back(std::move(pool));
    }
    return {};
}

class RunningFloor final : public Floor {
public:
    explicit RunningFloor(FloorSettings settings)
        : settings_{std::move(settings)},
          books_{settings_.pools, settings_.tables, settings_.checks},
          shared_{.settings = settings_, .books = books_}
    {}
    RunningFloor(const RunningFloor&) = delete;
    RunningFloor& operator=(const RunningFloor&) = delete;
    ~RunningFloor() override
    {
        tables_.clear();
        if (shared_.epoll >= 0) ::close(shared_.epoll);
    }

    Result<void> prepare();
    FloorResult run(const std::atomic<int>& interrupt,
                    const std::function<void(const FloorView&)>& show) override;
    Books& books() override { return books_; }

private:
    Result<void> openLog();
    void turn();
    // Calls turn() until the condition holds; false if it did not within `seconds`.
    template <class Condition>
    bool runUntil(Condition condition, std::int64_t seconds);
    template <class Condition>
    [[nodiscard]] bool all(Condition condition) const
    {
        return std::ranges::all_of(tables_, [&](const auto& table) { return condition(*table); });
    }
    bool begin();
    void play();
    void finish();
    void queryStates();
    [[nodiscard]] bool allHaveStates() const;
    [[nodiscard]] FloorView view() const;

    FloorSettings settings_;
    Books books_;
    FloorShared shared_;
    std::unique_ptr<FloorLog> log_;
    std::vector<std::unique_ptr<FloorTable>> tables_;
    const std::atomic<int>* interrupt_ = nullptr;
    const std::function<void(const FloorView&)>* show_ = nullptr;
    const char* phase_ = "connecting";
    Now now_;
    std::int64_t tickedMs_ = 0;
    std::int64_t flushedNs_ = 0;
    std::int64_t shownNs_ = 0;
    // The measured time: after warming up, while rounds are opened.
    std::int64_t measuredFromNs_ = 0;
    std::int64_t measuredToNs_ = 0;
    std::uint64_t roundsBefore_ = 0;
    std::uint64_t commandsBefore_ = 0;
    std::uint64_t roundsMeasured_ = 0;
    std::uint64_t commandsMeasured_ = 0;
    double cpuBefore_ = 0;
    double cpuMeasured_ = 0;
    std::array<epoll_event, 256> events_{};
};

Result<void> RunningFloor::prepare()
{
    raiseDescriptorLimit();
    auto address = addressOf(settings_.host, settings_.port);
    if (!address) return address.error();
    shared_.address = *std::move(address);
    shared_.epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (shared_.epoll < 0) return Error{std::string{"epoll: "} + std::strerror(errno)};
    if (auto opened = openLog(); !opened) return opened;
    const std::string boot = linkproto::bootId();
    for (std::uint32_t i = 0; i < settings_.tables.size(); ++i) {
        const std::string& id = settings_.tables[i].id;
        auto tls =
            net::TlsContext::make(net::TlsContext::Role::MutualClient, filesOf(settings_, id));
        if (!tls)
            return Error{"table " + id + ": " + tls.error().message +
                         ": make one with jackpotctl pki issue table " + id};
        auto outbox = settings_.outbox.empty()
                          ? Result<linkproto::Outbox>{linkproto::Outbox::inMemory(id)}
                          : linkproto::Outbox::open(settings_.outbox / (id + ".outbox"), id, boot);
        if (!outbox) return outbox.error();
        tables_.push_back(
            std::make_unique<FloorTable>(shared_, i, *std::move(outbox), *std::move(tls)));
        if (settings_.resume) tables_.back()->enterOutbox(Now::read());
    }
    return {};
}

Result<void> RunningFloor::openLog()
{
    if (settings_.outbox.empty()) return {};
    std::error_code failed;
    std::filesystem::create_directories(settings_.outbox, failed);
    if (failed) return Error{settings_.outbox.string() + ": " + failed.message()};
    std::vector<std::string> ids;
    for (const TableTerms& table : settings_.tables) ids.push_back(table.id);
    const auto file = settings_.outbox / kBooksFile;
    v2::Command command;
    v2::ToTable frame;
    const std::int64_t nowNs = Now::read().ns;
    auto log = settings_.resume
                   ? FloorLog::resume(
                         file, ids,
                         [&](FloorLog::Kind kind, std::uint32_t table, std::string_view bytes) {
                             const auto size = static_cast<int>(bytes.size());
                             if (kind == FloorLog::Kind::Sent &&
                                 command.ParseFromArray(bytes.data(), size))
                                 books_.sent(table, command, nowNs);
                             if (kind == FloorLog::Kind::Received &&
                                 frame.ParseFromArray(bytes.data(), size))
                                 books_.received(table, frame, nowNs);
                             if (kind == FloorLog::Kind::BooksBegun) books_.begin();
                         })
                   : FloorLog::create(file, ids);
    if (!log) return log.error();
    books_.latencies().clear();
    log_ = std::make_unique<FloorLog>(*std::move(log));
    shared_.log = log_.get();
    return {};
}

void RunningFloor::turn()
{
    const int ready =
        ::epoll_wait(shared_.epoll, events_.data(), static_cast<int>(events_.size()), kTickMs);
    now_ = Now::read();
    for (int i = 0; i < ready; ++i) {
        const epoll_event& event = events_[static_cast<std::size_t>(i)];
        tables_[event.data.u32]->onReady(event.events, now_);
    }
    if (now_.clock.bootMs - tickedMs_ >= kTickMs) {
        tickedMs_ = now_.clock.bootMs;
        for (const auto& table : tables_) table->onTick(now_);
    }
    if (now_.ns - flushedNs_ >= kFlushNs) {
        flushedNs_ = now_.ns;
        books_.flush();
    }
    if (now_.ns - shownNs_ >= kShowNs) {
        shownNs_ = now_.ns;
        books_.flush();
        (*show_)(view());
    }
}

template <class Condition>
bool RunningFloor::runUntil(Condition condition, std::int64_t seconds)
{
    const std::int64_t deadline = Now::read().ns + seconds * kSecondNs;
    while (!condition()) {
        turn();
        if (now_.ns >= deadline || interrupt_->load() > 1) return condition();
    }
    return true;
}

bool RunningFloor::allHaveStates() const
{
    for (std::uint32_t i = 0; i < tables_.size(); ++i)
        if (!books_.hasState(i)) return false;
    return true;
}

void RunningFloor::queryStates()
{
    books_.clearStates();
    now_ = Now::read();
    for (const auto& table : tables_) table->query(now_);
}

bool RunningFloor::begin()
{
    const auto timeoutS = settings_.timeoutS + static_cast<std::int64_t>(tables_.size()) / 50;
    const auto stopped = [&] { return interrupt_->load() > 0; };
    const auto online = [&] { return all([](const auto& table) { return table.isOnline(); }); };
    if (!runUntil([&] { return stopped() || online(); }, timeoutS) || !online()) return false;
    if (!books_.hasBegun()) {
        const auto decided = [&] {
            for (std::uint32_t i = 0; i < tables_.size(); ++i)
                if (books_.undecided(i) > 0) return false;
            return true;
        };
        now_ = Now::read();
        for (const auto& table : tables_) table->prepareForRun(now_);
        if (!runUntil(decided, timeoutS)) return false;
        queryStates();
        if (!runUntil([&] { return allHaveStates(); }, timeoutS)) return false;
        books_.begin();
        if (log_) log_->add(FloorLog::Kind::BooksBegun, 0, {});
    }
    return true;
}

void RunningFloor::play()
{
    shared_.isPlaying = shared_.mayFinish = true;
    const auto isOver = [&] {
        if (interrupt_->load() > 0 || books_.mistakeCount() > 1000) return true;
        if (!settings_.plan.rounds) return false;
        for (std::uint32_t i = 0; i < tables_.size(); ++i)
            if (books_.progress(i).rounds < *settings_.plan.rounds && !tables_[i]->isStopped())
                return false;
        return true;
    };
    now_ = Now::read();
    for (const auto& table : tables_) table->onTick(now_);
    constexpr std::int64_t kForever = 1'000'000'000;
    if (settings_.warmupS > 0) {
        phase_ = "warming up";
        runUntil(isOver, settings_.warmupS);
    }
    phase_ = "playing";
    books_.latencies().clear();
    measuredFromNs_ = Now::read().ns;
    roundsBefore_ = books_.totals().rounds;
    commandsBefore_ = books_.totals().commands;
    cpuBefore_ = cpuSeconds();
    runUntil(isOver, settings_.seconds.value_or(kForever));
    measuredToNs_ = Now::read().ns;
    roundsMeasured_ = books_.totals().rounds - roundsBefore_;
    commandsMeasured_ = books_.totals().commands - commandsBefore_;
    cpuMeasured_ = cpuSeconds() - cpuBefore_;
    shared_.isPlaying = false;
}

void RunningFloor::finish()
{
    phase_ = "finishing";
    std::int64_t windowMs = 0;
    std::int64_t settleAfterMs = 0;
    for (const PoolTerms& pool : settings_.pools) {
        windowMs = std::max(windowMs, pool.windowMs);
        settleAfterMs = std::max(settleAfterMs, pool.settleAfterMs);
    }
    const auto idle = [&] { return all([](const auto& table) { return table.isIdle(); }); };
    // Each table confirms only after the window of the one before has ended.
    std::int64_t presses = 1;
    for (std::uint32_t i = 0; i < tables_.size(); ++i)
        if (!tables_[i]->isIdle() && books_.progress(i).lastHasJackpot()) ++presses;
    runUntil(idle, settings_.timeoutS + presses * windowMs / 1000);
    runUntil([&] { return books_.winsLocked() == 0; }, settings_.timeoutS + settleAfterMs / 1000);
    queryStates();
    runUntil([&] { return allHaveStates(); }, settings_.timeoutS);
    books_.flush();
    books_.end();
}

FloorView RunningFloor::view() const
{
    FloorView view{.books = books_, .phase = phase_, .injected = shared_.injected};
    for (const auto& table : tables_)
        if (table->isOnline()) ++view.online;
    view.connections = shared_.connections;
    view.faultsSeen = shared_.notes.size();
    const bool isOver = measuredToNs_ != 0;
    const std::int64_t to = isOver ? measuredToNs_ : now_.ns;
    view.elapsedS =
        measuredFromNs_ == 0 ? 0 : static_cast<double>(to - measuredFromNs_) / kSecondNs;
    view.rounds = isOver ? roundsMeasured_ : books_.totals().rounds - roundsBefore_;
    view.commands = isOver ? commandsMeasured_ : books_.totals().commands - commandsBefore_;
    view.cpuS = cpuMeasured_;
    return view;
}

FloorResult RunningFloor::run(const std::atomic<int>& interrupt,
                              const std::function<void(const FloorView&)>& show)
{
    interrupt_ = &interrupt;
    show_ = &show;
    if (begin()) {
        play();
        finish();
    } else if (interrupt.load() == 0) {
        std::string missing;
        for (std::size_t i = 0; i < tables_.size() && missing.size() < 200; ++i)
            if (!tables_[i]->isOnline())
                missing += (missing.empty() ? "" : ", ") + settings_.tables[i].id;
        books_.addMistake("tables could not be connected to " + settings_.host + ":" +
                          std::to_string(settings_.port) + ": " + missing +
                          ": is jackpotd running there, and does it know them?");
    }
    if (log_ && log_->hasFailed())
        books_.addMistake((settings_.outbox / kBooksFile).string() +
                          ": could not be written: this run cannot be resumed");
    phase_ = "done";
    FloorResult result{
        .view = view(), .wasInterrupted = interrupt.load() > 0, .notes = shared_.notes};
    now_ = Now::read();
    for (const auto& table : tables_) table->disconnect(now_);
    return result;
}

}  // namespace

Result<std::unique_ptr<Floor>> Floor::open(FloorSettings settings)
{
    if (!settings.isConfigured)
        if (auto queried = queryTerms(settings); !queried) return queried.error();
    auto floor = std::make_unique<RunningFloor>(std::move(settings));
    if (auto prepared = floor->prepare(); !prepared) return prepared.error();
    return std::unique_ptr<Floor>{std::move(floor)};
}

}  // namespace jackpot::floorsim
