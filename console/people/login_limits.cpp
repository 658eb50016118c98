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
    return at == names_.end() ? 0 : std::max<std::int64_t>(at->second.lockedUntil - now, 0);
}

std::int64_t LoginLimiter::addressWaitMs(const std::string& address, std::int64_t now) const
{
    const auto at = addresses_.find(networkOf(address));
    if (at == addresses_.end()) return 0;
    const AddressDelay& slowed = at->second;
    if (now - slowed.lastMs >= kWindowMs || slowed.count < kFreeOfAddress) return 0;
    const int doublings = std::min(slowed.count - kFreeOfAddress, 6);
    const std::int64_t wait = std::min<std::int64_t>(1000LL << doublings, kSlowestMs);
    return std::max<std::int64_t>(slowed.lastMs + wait - now, 0);
}

bool LoginLimiter::countName(const std::string& name, std::int64_t now)
{
    if (!names_.contains(name))
        makeRoom(names_, kMaxKept, [&](const Count& count) {
            return std::max(count.lockedUntil, count.at.empty() ? 0 : count.at.back());
        });
    Count& count = names_[name];
    std::erase_if(count.at, [now](std::int64_t at) { return now - at >= kWindowMs; });
    count.at.push_back(now);
    if (count.at.size() < static_cast<std::size_t>(kMostOfName)) return false;
    count.at.clear();
    count.lockedUntil = now + kLockedMs;
    return true;
}

void LoginLimiter::countAddress(const std::string& address, std::int64_t now)
{
    const std::string network = networkOf(address);
    if (!addresses_.contains(network))
        makeRoom(addresses_, kMaxKept, [](const AddressDelay& slowed) { return slowed.lastMs; });
    AddressDelay& slowed = addresses_[network];
    if (now - slowed.lastMs >= kWindowMs) slowed.count = 0;
    slowed.count = std::min(slowed.count + 1, 1000);
    slowed.lastMs = now;
}

void LoginLimiter::forgiveAddress(const std::string& address)
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
