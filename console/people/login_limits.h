// Who has failed to sign in, and must therefore wait. Bounded: when there are too many, the oldest
// that holds nobody up is forgotten. One thread at a time; time is passed in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jackpot::console {

class LoginLimiter {
public:
    static constexpr int kMostOfName = 5;     // within the window; then it is locked
    static constexpr int kFreeOfAddress = 5;  // from then on each takes longer
    static constexpr std::int64_t kWindowMs = 15LL * 60 * 1000;
    static constexpr std::int64_t kLockedMs = 15LL * 60 * 1000;
    static constexpr std::int64_t kSlowestMs = 60LL * 1000;
    static constexpr std::size_t kMaxKept = 4096;

    // How long to wait before the next attempt; 0 where it may be made.
    [[nodiscard]] std::int64_t nameWaitMs(const std::string& name, std::int64_t now) const;
    [[nodiscard]] std::int64_t addressWaitMs(const std::string& address, std::int64_t now) const;

    // An attempt counts as failed from its start, so that many at once are no way around.
    // Whether it has locked the name.
    bool countName(const std::string& name, std::int64_t now);
    void countAddress(const std::string& address, std::int64_t now);
    // It was none after all.
    void forgiveAddress(const std::string& address);
    void forgiveName(const std::string& name) { names_.erase(name); }

private:
    struct Count {
        std::vector<std::int64_t> at;  // the latest, at most kMostOfName
        std::int64_t lockedUntil = 0;
    };
    struct AddressDelay {
        int count = 0;
        std::int64_t lastMs = 0;
    };
    std::map<std::string, Count> names_;
    std::map<std::string, AddressDelay> addresses_;
};

// What an address counts under: an IPv6 client has a whole /64 to choose from.
std::string networkOf(const std::string& address);

}  // namespace jackpot::console
