// Addresses in the configuration. Each function reports a problem at the value.
#pragma once

#include <optional>
#include <string_view>

#include "config/toml_section.h"

namespace jackpot::config {

// "127.0.0.1:7707", "host.example:7707" or "[::1]:7707"; `otherwise` if the key is absent.
Endpoint endpoint(const Value& value, const Endpoint& otherwise);
// Like readEndpoint(), or "systemd:modbus": a socket that systemd passes under that name.
Endpoint endpointOrInherited(const Value& value, const Endpoint& otherwise);
std::optional<Endpoint> endpointIn(std::string_view text);
// "10.0.0.0/8", "fd00::/8"; an address alone is a network of one address.
std::optional<Network> networkOf(std::string_view text);
// True for a loopback address and for "localhost"; false for every other name.
bool isLoopback(const Endpoint& endpoint);

}  // namespace jackpot::config
