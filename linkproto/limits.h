// What both sides of the link keep to; docs/link.md has them all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jackpot::linkproto {

inline constexpr std::uint32_t kLinkVersion = 2;
inline constexpr std::size_t kMaxInFlight = 32;  // commands of one connection that are not decided
inline constexpr std::size_t kMaxTextBytes = 256;   // of each text in a command
inline constexpr std::int64_t kHeartbeatMs = 1000;  // of silence, then something is sent

}  // namespace jackpot::linkproto
