// The real daemon in a directory of its own, for benchmarks.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/storage_floor.h"
#include "config/config.h"
#include "storage/journal.h"

namespace jackpot::bench {

namespace fs = std::filesystem;

const fs::path kDirectory = fs::absolute("build/bench-daemon");

[[noreturn]] inline void fail(const std::string& why) { throw std::runtime_error{why}; }

inline void command(const std::string& line)
{
    if (std::system((line + " > /dev/null").c_str()) != 0) fail("this failed: " + line);
}

inline std::string tableId(int i) { return "T" + std::to_string(i); }

class Daemon {
public:
    Daemon(const std::string& name, int tables, int pools = 1, std::int64_t records = 0)
        : home_{kDirectory / name}
    {
        const std::string programs = (fs::absolute("build/release/bin")).string() + "/";
        fs::remove_all(home_);
        fs::create_directories(home_ / "journal");
        std::ofstream toml{home_ / "jackpotd.toml"};
        toml << "[site]\nname = \"bench.example/jackpot\"\n[journal]\ndirectory = \"journal\"\n"
                "key = \"journal.key\"\n[link]\nlisten = \"127.0.0.1:0\"\n"
                "certificate = \"../pki/server/jackpotd.pem\"\nkey = "
                "\"../pki/server/jackpotd.key\"\n"
                "ca = \"../pki/ca.pem\"\nplayer_card_key = \"player_card.key\"\n"
                "[meters]\nlisten = \"127.0.0.1:0\"\nmax_displays = 2000\n"
                "max_displays_per_address = 2000\n[log]\n"
                "level = \"information\"\n[[paytable]]\nid = \"p\"\ngame = \"blazing7s\"\n"
                "wager = \"5.00\"\nrow = [\n"
                "{ tier = \"three_sevens_diamonds\", pays = \"all\" },\n"
                "{ tier = \"three_suited_sevens\", pays = \"tenth\" },\n"
                "{ tier = \"three_same_colour_sevens\", pays = \"fixed\", amount = \"2500.00\" },\n"
                "{ tier = \"three_sevens\", pays = \"fixed\", amount = \"1000.00\" },\n"
                "{ tier = \"two_player_sevens\", pays = \"fixed\", amount = \"100.00\" },\n"
                "{ tier = \"one_each_sevens\", pays = \"fixed\", amount = \"50.00\" }]\n";
        for (int i = 0; i < pools; ++i)
            toml << "[[pool]]\nid = \"B" << i
                 << "\"\ngame = \"blazing7s\"\npaytable = \"p\"\n"
                    "wager = \"5.00\"\nincrement = \"0.235\"\nminimum = \"50000.00\"\n";
        for (int i = 0; i < tables; ++i)
            toml << "[[table]]\nid = \"" << tableId(i) << "\"\npool = \"B" << i % pools << "\"\n";
        for (int i = 0; i < pools; ++i) {
            toml << "[[meter]]\nid = \"M" << i << "\"\nunit = " << i + 1 << "\ntables = [";
            for (int j = i; j < tables; j += pools) toml << "\"" << tableId(j) << "\",";
            toml << "]\n";
        }
        toml.close();
        std::ofstream{home_ / "player_card.key"} << "a secret of more than 16 bytes\n";
        fs::permissions(home_ / "player_card.key", fs::perms::owner_read);
        command(programs + "jackpot-audit keygen --name bench.example/jackpot --out " +
                (home_ / "journal.key").string());
        command(programs + "jackpotctl journal create --name bench.example/jackpot --key " +
                (home_ / "journal.key").string() + " " + (home_ / "journal").string());
        if (records > 0) fill(records);
        start();
    }
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;
    ~Daemon()
    {
        stop();
        fs::remove_all(home_);
    }

    // Adds `records` records to the journal.
    void fill(std::int64_t records)
    {
        const auto config = config::load(home_ / "jackpotd.toml");
        const auto key = storage::PrivateKey::load(home_ / "journal.key");
        if (!config || !key) fail("the site cannot be read");
        auto journal =
            storage::Journal::open({home_ / "journal", 50'000, {}}, storage::signer(*key), 1);
        if (!journal) fail(inWords(journal.error()));
        (void)journal->decide(rules::ConfigureSite{config->site}, 1);
        rules::OpenRound open{tableId(0), 0, {}};
        for (int seat = 1; seat <= 3; ++seat) open.wagers.push_back({seat, true, {}, {}});
        for (std::int64_t i = 1; i <= records; ++i) {
            open.round = i;
            (void)journal->decide(open, i);
            if (i % 1000 == 0 && !journal->commit()) fail("commit");
        }
        if (!journal->tidy()) fail("tidy");
    }

    void start()
    {
        const std::string log = (home_ / "log").string();
        const std::string program = fs::absolute("build/release/bin/jackpotd").string();
        const std::string config = (home_ / "jackpotd.toml").string();
        process_ = ::fork();
        if (process_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // it ends with the benchmark
            if (!std::freopen(log.c_str(), "w", stderr)) std::_Exit(1);
            ::execl(program.c_str(), program.c_str(), "--config", config.c_str(), nullptr);
            std::_Exit(127);
        }
        for (int i = 0; i < 300 && port_ == 0; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{100});
            std::ifstream in{log};
            const std::string text{std::istreambuf_iterator<char>{in}, {}};
            meterPort_ = portAfter(text, "displays poll at 127.0.0.1:");
            port_ = portAfter(text, "listening on 127.0.0.1:");
        }
        if (port_ == 0) fail("the daemon does not listen: see " + log);
    }
    void stop()
    {
        if (process_ <= 0) return;
        ::kill(process_, SIGTERM);
        ::waitpid(process_, nullptr, 0);
        process_ = 0;
        port_ = 0;
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] std::uint16_t meterPort() const { return meterPort_; }
    [[nodiscard]] fs::path journal() const { return home_ / "journal"; }
    // Processor seconds so far.
    [[nodiscard]] double processorSeconds() const
    {
        std::ifstream stat{"/proc/" + std::to_string(process_) + "/stat"};
        std::string text;
        std::getline(stat, text);
        std::istringstream fields{text.substr(text.rfind(')') + 2)};
        std::string skipped;
        for (int i = 0; i < 11; ++i) fields >> skipped;
        long user = 0;
        long system = 0;
        fields >> user >> system;
        return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    [[nodiscard]] double residentMegabytes() const
    {
        std::ifstream status{"/proc/" + std::to_string(process_) + "/status"};
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
        return 0;
    }

private:
    static std::uint16_t portAfter(const std::string& text, const std::string& words)
    {
        const auto at = text.find(words);
        return at == std::string::npos
                   ? std::uint16_t{0}
                   : static_cast<std::uint16_t>(std::stoi(text.substr(at + words.size())));
    }

    fs::path home_;
    pid_t process_ = 0;
    std::uint16_t port_ = 0;
    std::uint16_t meterPort_ = 0;
};

inline std::vector<std::string> ids(int count)
{
    std::vector<std::string> all;
    for (int i = 0; i < count; ++i) all.push_back(tableId(i));
    return all;
}

inline void makeCertificates(int count)
{
    const std::string pki = (kDirectory / "pki").string();
    command("build/release/bin/jackpotctl pki init --dir " + pki);
    for (int i = 0; i < count; ++i)
        command("build/release/bin/jackpotctl pki issue table " + tableId(i) + " --dir " + pki);
}

}  // namespace jackpot::bench
