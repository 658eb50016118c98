#include "linkproto/server/table_certificate.h"

namespace jackpot::linkproto {

Result<std::string> tableIdOf(const net::TlsStream& stream)
{
    auto id = stream.peerCommonName();
    if (!id) return id;
    for (const std::string& uri : stream.peerUris())
        if (uri.starts_with("jackpot:") && uri != "jackpot:table:" + *id)
            return Error{"the certificate is for " + uri + ", not for table " + *id};
    return id;
}

}  // namespace jackpot::linkproto
