// A daemon in the test's process: the link's server and the writer, with hooks between them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jackpotd/writer.h"
#include "linkproto/server/link_server.h"
#include "tests/support/authority.h"
#include "tests/support/scratch.h"
#include "tools/floorsim/options.h"
#include "tools/floorsim/run.h"

namespace jackpot::floorsim {

// What a dishonest daemon does. Each is called for everything that passes, on the server's and on
// the writer's thread.
struct Cheats {
    std::function<void(linkproto::Incoming&)> heard{};
    std::function<bool(const linkproto::Incoming&)> ignores{};
    std::function<void(linkproto::Delivery&)> onDelivery{};
};

struct DaemonOptions {
    int sevens = 8;
    int holdem = 4;
    int windowMs = 60;
    std::string poolExtra{};  // more lines of the Blazing 7's pool
};

class InProcessDaemon {
public:
    explicit InProcessDaemon(const DaemonOptions& options = {}, Cheats cheats = {});
    InProcessDaemon(const InProcessDaemon&) = delete;
    InProcessDaemon& operator=(const InProcessDaemon&) = delete;
    ~InProcessDaemon();

    // The daemon ends without a word and begins again with the same journal.
    void restart();
    Writer& writer() { return *writer_; }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::filesystem::path operator/(const char* name) const
    {
        return scratch_ / name;
    }

    // Plays with these options besides those that say where the daemon is. The result is valid
    // until leave().
    FloorResult play(const std::vector<std::string>& options);
    void leave() { floors_.clear(); }
    [[nodiscard]] FloorSettings settings(const std::vector<std::string>& options) const;

private:
    void start(bool isNew);
    void stop();

    ScratchDirectory scratch_;
    Authority authority_;
    net::TlsFiles daemonFiles_;
    std::vector<std::string> tables_;
    rules::Site site_;
    Cheats cheats_;
    Log log_{config::LogLevel::Error};
    std::uint16_t port_ = 0;
    std::unique_ptr<Writer> writer_;
    std::unique_ptr<linkproto::Server> server_;
    std::vector<std::unique_ptr<Floor>> floors_;  // their books outlive the runs
};

// The report, for when a test fails.
std::string words(const FloorResult& result);
bool agrees(const FloorResult& result);
// One of the differences has this in it.
bool says(const FloorResult& result, std::string_view what);

// The options of a command line. A CommandError if they cannot be used.
FloorOptions optionsFrom(const std::vector<std::string>& given);

}  // namespace jackpot::floorsim
