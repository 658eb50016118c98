// Which table a client certificate is for.
#pragma once

#include <string>

#include "base/result.h"
#include "net/tls.h"

namespace jackpot::linkproto {

// The table's id: the common name of the certificate that the peer presented. A URI that begins
// with "jackpot:" names the certificate's only use (docs/pki.md), so it must be
// "jackpot:table:<id>". Call after the handshake.
Result<std::string> tableIdOf(const net::TlsStream& stream);

}  // namespace jackpot::linkproto
