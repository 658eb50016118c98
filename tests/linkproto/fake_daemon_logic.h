// The replies of a daemon, without journal, rules or I/O: accepts every command except those in
// `refused`.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "link.pb.h"

namespace jackpot::linkproto {

class FakeDaemonLogic {
public:
    explicit FakeDaemonLogic(std::string table = "BJ01") : table_{std::move(table)} {}

    // Throws std::runtime_error for a message that a correct table never sends.
    std::vector<link::v2::ToTable> answer(const link::v2::ToDaemon& message);
    [[nodiscard]] link::v2::TableState state() const;

    [[nodiscard]] std::uint64_t lastNumber() const { return decided_.size(); }
    [[nodiscard]] std::uint64_t wagers() const { return wagers_; }
    [[nodiscard]] const link::v2::Command& command(std::uint64_t number) const
    {
        return decided_.at(number).command;
    }
    [[nodiscard]] const std::vector<link::v2::Hello>& hellos() const { return hellos_; }
    [[nodiscard]] const link::v2::Heartbeat& heartbeat() const { return heartbeat_; }
    [[nodiscard]] std::uint64_t repeated() const { return repeated_; }

    // Called for each command; a value is sent instead of a decision.
    std::function<std::optional<link::v2::Rejected>(const link::v2::Command&)> reject;
    std::set<std::uint64_t> refused;  // numbers to decide with a refusal
    bool unavailable = false;

private:
    struct Decided {
        link::v2::Command command;  // without age
        link::v2::Decision decision;
    };
    link::v2::ToTable decide(const link::v2::Command& command);

    std::string table_;
    std::map<std::uint64_t, Decided> decided_;
    std::uint64_t wagers_ = 0;
    std::uint64_t repeated_ = 0;
    std::vector<link::v2::Hello> hellos_;
    link::v2::Heartbeat heartbeat_;
};

}  // namespace jackpot::linkproto
