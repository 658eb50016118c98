// Addresses as the configuration writes them. What is wrong is noted at the value.
#pragma once

#include <optional>
#include <string_view>

#include "config/toml_section.h"

namespace jackpot::config {

// "127.0.0.1:7707", "host.example:7707" or "[::1]:7707"; `otherwise` where the key is absent.
Endpoint endpoint(const Value& value, const Endpoint& otherwise);
// The same, or "systemd:modbus": a socket that systemd hands over under that name.
Endpoint endpointOrInherited(const Value& value, const Endpoint& otherwise);
std::optional<Endpoint> endpointIn(std::string_view text);
// "10.0.0.0/8", "fd00::/8"; an address alone is a network of one.
std::optional<Network> networkOf(std::string_view text);
// Reached from this machine alone; a name is taken for one that is not, but "localhost".
bool isLoopback(const Endpoint& endpoint);

}  // namespace jackpot::config
