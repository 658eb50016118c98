// many_certificates DIR TABLE...: an authority with the daemon's and the tables' certificates, with
// the layout of jackpotctl pki, but faster, without its checks and syncs.
#include <filesystem>
#include <iostream>

#include "tests/support/authority.h"

int main(int count, char** arguments)
{
    namespace fs = std::filesystem;
    if (count < 3) {
        std::cerr << "usage: many_certificates DIR TABLE...\n";
        return 2;
    }
    const fs::path directory = arguments[1];
    for (const char* each : {"server", "table"}) fs::create_directories(directory / each);
    jackpot::Authority authority{directory, "ca"};
    const auto place = [&](const jackpot::net::TlsFiles& files, const fs::path& name) {
        fs::rename(files.certificate, directory / name += ".pem");
        fs::rename(files.key, directory / name += ".key");
    };
    place(authority.daemon(), "server/jackpotd");
    for (int i = 2; i < count; ++i)
        place(authority.table(arguments[i]), fs::path{"table"} / arguments[i]);
    fs::rename(authority.revoke({}), directory / "crl.pem");
    return 0;
}
