// Limits on sign-in attempts: how long a name or an address must wait after failures. Memory is
// bounded: when a map is full, the entry with the oldest failure or lock is removed. Not
// thread-safe; time is passed in, in milliseconds.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jackpot::console {

class LoginLimiter {
public:
    static constexpr int kMaxFailuresPerName = 5;  // within the window; then the name is locked
    static constexpr int kFreeFailuresPerAddress =
        5;  // then each further failure doubles the delay
    static constexpr std::int64_t kWindowMs = 15LL * 60 * 1000;
    static constexpr std::int64_t kLockMs = 15LL * 60 * 1000;
    static constexpr std::int64_t kMaxDelayMs = 60LL * 1000;
    static constexpr std::size_t kMaxTracked = 4096;

    // Time until the next attempt is allowed; 0: now.
    [[nodiscard]] std::int64_t nameWaitMs(const std::string& name, std::int64_t now) const;
    [[nodiscard]] std::int64_t addressWaitMs(const std::string& address, std::int64_t now) const;

    // Call before the password is checked: an attempt counts as failed until it succeeds, so that
    // parallel attempts are limited too. Returns true if this attempt locked the name.
    bool countNameAttempt(const std::string& name, std::int64_t now);
    void countAddressAttempt(const std::string& address, std::int64_t now);
    // Call after success. An address loses one counted failure, a name loses all.
    void cancelAddressAttempt(const std::string& address);
    void clearName(const std::string& name) { names_.erase(name); }

private:
    struct NameFailures {
        std::vector<std::int64_t> atMs;  // within the window, at most kMaxFailuresPerName
        std::int64_t lockedUntilMs = 0;
    };
    struct AddressFailures {
        int count = 0;
        std::int64_t lastMs = 0;
    };
    std::map<std::string, NameFailures> names_;
    std::map<std::string, AddressFailures> addresses_;
};

// The key under which an address is counted: an IPv4 address, or the /64 of an IPv6 address, since
// one client can use every address of its /64.
std::string networkOf(const std::string& address);

}  // namespace jackpot::console
