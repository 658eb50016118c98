#include "console/people/login_limits.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace jackpot::console {
namespace {

template <class Map, class Age>
void makeRoom(Map& map, std::size_t most, Age&& age)
{
    if (map.size() < most) return;
    map.erase(
        std::ranges::min_element(map, {}, [&](const auto& each) { return age(each.second); }));
}

}  // namespace

std::int64_t LoginLimiter::nameWaitMs(const std::string& name, std::int64_t now) const
{
    const auto at = names_.find(name);
    return at == names_.end() ? 0 : std::max<std::int64_t>(at->second.lockedUntilMs - now, 0);
}

std::int64_t LoginLimiter::addressWaitMs(const std::string& address, std::int64_t now) const
{
    const auto at = addresses_.find(networkOf(address));
    if (at == addresses_.end()) return 0;
    const AddressFailures& failures = at->second;
    if (now - failures.lastMs >= kWindowMs || failures.count < kFreeFailuresPerAddress) return 0;
    const int doublings = std::min(failures.count - kFreeFailuresPerAddress, 6);
    const std::int64_t wait = std::min<std::int64_t>(1000LL << doublings, kMaxDelayMs);
    return std::max<std::int64_t>(failures.lastMs + wait - now, 0);
}

bool LoginLimiter::countNameAttempt(const std::string& name, std::int64_t now)
{
    if (!names_.contains(name))
        makeRoom(names_, kMaxTracked, [&](const NameFailures& failures) {
            return std::max(failures.lockedUntilMs,
                            failures.atMs.empty() ? 0 : failures.atMs.back());
        });
    NameFailures& failures = names_[name];
    std::erase_if(failures.atMs, [now](std::int64_t at) { return now - at >= kWindowMs; });
    failures.atMs.push_back(now);
    if (failures.atMs.size() < static_cast<std::size_t>(kMaxFailuresPerName)) return false;
    failures.atMs.clear();
    failures.lockedUntilMs = now + kLockMs;
    return true;
}

void LoginLimiter::countAddressAttempt(const std::string& address, std::int64_t now)
{
    const std::string network = networkOf(address);
    if (!addresses_.contains(network))
        makeRoom(addresses_, kMaxTracked,
                 [](const AddressFailures& failures) { return failures.lastMs; });
    AddressFailures& failures = addresses_[network];
    if (now - failures.lastMs >= kWindowMs) failures.count = 0;
    failures.count = std::min(failures.count + 1, 1000);
    failures.lastMs = now;
}

void LoginLimiter::cancelAddressAttempt(const std::string& address)
{
    const auto at = addresses_.find(networkOf(address));
    if (at != addresses_.end() && at->second.count > 0) --at->second.count;
}

std::string networkOf(const std::string& address)
{
    std::array<unsigned char, 16> bytes{};
    if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
    std::fill(bytes.begin() + 8, bytes.end(), static_cast<unsigned char>(0));
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(AF_INET6, bytes.data(), text.data(), text.size());
    return std::string{text.data()} + "/64";
}

}  // namespace jackpot::console
