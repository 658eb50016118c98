// A FakeDaemon as a program: makes certificates in the given directory as jackpotctl pki lays them
// out, prints its port, and serves until its standard input ends. A line "drop" there drops all
// connections, "lose N" the next N answers, "refuse N" decides command N with a refusal,
// "unavailable" says that the journal can't be written.
#include <filesystem>
#include <iostream>
#include <sstream>

#include "tests/linkproto/fake_daemon.h"
#include "tests/support/authority.h"

int main(int argc, char** argv)
{
    namespace fs = std::filesystem;
    using namespace jackpot::linkproto;
    if (argc != 3) {
        std::cerr << "usage: link_fake_daemon DIRECTORY TABLE\n";
        return 2;
    }
    const fs::path directory = argv[1];
    const std::string id = argv[2];
    jackpot::Authority authority{directory, "ca"};
    fs::create_directories(directory / "table");
    const jackpot::net::TlsFiles table = authority.table(id);
    fs::rename(table.certificate, directory / "table" / (id + ".pem"));
    fs::rename(table.key, directory / "table" / (id + ".key"));

    FakeDaemon daemon{authority.daemon()};
    std::cout << daemon.port() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words{line};
        std::string what;
        std::uint64_t number = 0;
        words >> what >> number;
        if (what == "drop") daemon.dropAll();
        if (what == "lose") daemon.loseAnswers(static_cast<int>(number));
        if (what == "refuse")
            daemon.withLogic([&](FakeDaemonLogic& logic) { logic.refused.insert(number); });
        if (what == "unavailable") {
            jackpot::link::v2::ToTable message;
            message.mutable_pool()->set_unavailable(true);
            daemon.push(message);
        }
        std::cout << "done" << std::endl;
    }
    if (daemon.fault().empty()) return 0;
    std::cerr << daemon.fault() << "\n";
    return 1;
}
