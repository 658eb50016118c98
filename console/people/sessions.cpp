#include "console/people/sessions.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "console/people/passwords.h"
#include "storage/sha256.h"

namespace jackpot::console {
namespace {

constexpr std::size_t kTokenBytes = 32;

}  // namespace

Sessions::Sessions(SessionSettings settings, Clock clock)
    : clock_{std::move(clock)}, settings_{settings}
{}

bool Sessions::hasEnded(const Session& session, std::int64_t now) const
{
    return now - session.usedMs >= settings_.idleMs || now - session.startedMs >= settings_.maxMs;
}

std::optional<Sessions::NewSession> Sessions::begin(const Person& person,
                                                    const std::string& address,
                                                    bool mustChangePassword)
{
    NewSession created{randomHex(kTokenBytes), randomHex(kTokenBytes)};
    const std::int64_t now = clock_();
    const std::scoped_lock lock{mutex_};
    std::erase_if(sessions_, [&](const auto& each) { return hasEnded(each.second, now); });
    const auto isOfPerson = [&](const auto& each) {
        return each.second.person.name == person.name;
    };
    if (std::ranges::count_if(sessions_, isOfPerson) >=
        static_cast<std::ptrdiff_t>(kMaxPerPerson)) {
        auto oldest = sessions_.end();
        for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
            if (isOfPerson(*at) &&
                (oldest == sessions_.end() || at->second.usedMs < oldest->second.usedMs))
                oldest = at;
        sessions_.erase(oldest);
    }
    if (sessions_.size() >= kMaxSessions) return std::nullopt;
    const std::string id = storage::sha256({created.token}).hex();
    sessions_[id] = {id, person, address, created.csrf, now, now, mustChangePassword};
    return created;
}

std::optional<Sessions::Session> Sessions::use(std::string_view token, const std::string& address,
                                               Use how)
{
    if (token.size() != 2 * kTokenBytes) return std::nullopt;
    const std::string id = storage::sha256({token}).hex();
    const std::int64_t now = clock_();
    const std::scoped_lock lock{mutex_};
    const auto at = sessions_.find(id);
    if (at == sessions_.end()) return std::nullopt;
    if (hasEnded(at->second, now)) {
        sessions_.erase(at);
        return std::nullopt;
    }
    if (settings_.bindToAddress && at->second.address != address) return std::nullopt;
    if (how == Use::ByPerson) at->second.usedMs = now;
    return at->second;
}

std::optional<Sessions::Session> Sessions::find(const std::string& id) const
{
    const std::int64_t now = clock_();
    const std::scoped_lock lock{mutex_};
    const auto at = sessions_.find(id);
    if (at == sessions_.end() || hasEnded(at->second, now)) return std::nullopt;
    return at->second;
}

std::int64_t Sessions::remainingMs(const Session& session) const
{
    const std::int64_t now = clock_();
    const std::scoped_lock lock{mutex_};
    return std::max<std::int64_t>(
        std::min(session.usedMs + settings_.idleMs, session.startedMs + settings_.maxMs) - now, 0);
}

void Sessions::end(const std::string& id)
{
    const std::scoped_lock lock{mutex_};
    sessions_.erase(id);
}

void Sessions::endAllOfPerson(std::string_view name, std::string_view exceptId)
{
    const std::scoped_lock lock{mutex_};
    std::erase_if(sessions_, [&](const auto& each) {
        return each.second.person.name == name && each.first != exceptId;
    });
}

void Sessions::markPasswordChanged(const std::string& id)
{
    const std::scoped_lock lock{mutex_};
    if (const auto at = sessions_.find(id); at != sessions_.end())
        at->second.mustChangePassword = false;
}

void Sessions::setSettings(const SessionSettings& settings)
{
    const std::scoped_lock lock{mutex_};
    settings_ = settings;
}

bool isSameSecret(std::string_view a, std::string_view b)
{
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace jackpot::console
