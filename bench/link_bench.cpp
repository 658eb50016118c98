// The daemon end to end, with real TLS and the real journal, load generator and daemon on the same
// cores; and in the same run PostgreSQL doing the same bookkeeping. Ratios inside one run, rounds
// interleaved, medians. Figures for docs/benchmarks.md: ./dev bench link
#include <libpq-fe.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "bench/bare_loop.h"
#include "bench/daemon.h"
#include "bench/link_load.h"
#include "bench/measurement.h"
#include "config/config.h"
#include "linkproto/client/table_link.h"
#include "rules/apply.h"
#include "storage/journal.h"
#include "storage/merkle.h"
#include "storage/sqlite.h"

namespace jackpot::bench {
namespace {

// --- PostgreSQL, Debian's, with default settings

class Postgres {
public:
    Postgres()
    {
        fs::remove_all(home_);
        fs::create_directories(home_);
        if (::geteuid() == 0) command("chown postgres " + home_.string());
        std::string bin;
        for (const auto& entry : fs::directory_iterator{"/usr/lib/postgresql"})
            bin = (entry.path() / "bin").string() + "/";
        bin_ = bin;
        command(asUser_ + bin_ + "initdb -D " + data() + "'");
        command(asUser_ + bin_ + "pg_ctl -w -D " + data() + " -l " + (home_ / "log").string() +
                " -o \"-k " + home_.string() + " -h \\\"\\\"\" start'");
        Connection setup{home_.string()};
        setup.run("CREATE TABLE pool(id int PRIMARY KEY, meter bigint, seq bigint, hash bytea)");
        setup.run("CREATE TABLE journal(seq bigint PRIMARY KEY, payload text, hash bytea)");
        setup.run("INSERT INTO pool VALUES (1, 0, 0, '')");
    }
    ~Postgres()
    {
        if (std::system((asUser_ + bin_ + "pg_ctl -m immediate -D " + data() + " stop' > /dev/null")
                            .c_str()) != 0)
            std::fprintf(stderr, "PostgreSQL did not stop\n");
        fs::remove_all(home_);
    }
    Postgres(const Postgres&) = delete;
    Postgres& operator=(const Postgres&) = delete;

    // Rounds per second with `clients` clients, each waiting for its commit: the pool is updated, a
    // row that is chained to the one before is inserted, and both are committed.
    double run(int clients, double seconds)
    {
        std::atomic<bool> over{false};
        std::atomic<std::uint64_t> done{0};
        const std::string payload(330, 'x');  // as long as a record
        std::vector<std::jthread> threads;
        for (int i = 0; i < clients; ++i)
            threads.emplace_back([&] {
                Connection connection{home_.string()};
                connection.prepare(
                    "u",
                    "UPDATE pool SET meter = meter + 352500000, seq = seq + 1, hash = "
                    "sha256(hash || convert_to($1, 'UTF8')) WHERE id = 1");
                connection.prepare(
                    "i", "INSERT INTO journal SELECT seq, $1, hash FROM pool WHERE id = 1");
                while (!over) {
                    connection.run("BEGIN");
                    connection.execute("u", payload);
                    connection.execute("i", payload);
                    connection.run("COMMIT");
                    ++done;
                }
            });
        std::this_thread::sleep_for(std::chrono::milliseconds{300});
        const std::uint64_t before = done;
        const auto start = Clock::now();
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        const double rate = static_cast<double>(done - before) /
                            std::chrono::duration<double>(Clock::now() - start).count();
        over = true;
        return rate;
    }

private:
    class Connection {
    public:
        explicit Connection(const std::string& directory)
            : handle_{PQconnectdb(("host=" + directory + " user=postgres dbname=postgres").c_str())}
        {
            if (PQstatus(handle_) != CONNECTION_OK) fail(PQerrorMessage(handle_));
        }
        Connection(const Connection&) = delete;
        Connection& operator=(const Connection&) = delete;
        ~Connection() { PQfinish(handle_); }
        void run(const char* sql) { check(PQexec(handle_, sql)); }
        void prepare(const char* name, const char* sql)
        {
            check(PQprepare(handle_, name, sql, 1, nullptr));
        }
        void execute(const char* name, const std::string& value)
        {
            const char* const values = value.c_str();
            check(PQexecPrepared(handle_, name, 1, &values, nullptr, nullptr, 0));
        }

    private:
        void check(PGresult* result)
        {
            const auto status = PQresultStatus(result);
            PQclear(result);
            if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
                fail(PQerrorMessage(handle_));
        }
        PGconn* handle_;
    };
    [[nodiscard]] std::string data() const { return (home_ / "data").string(); }

    fs::path home_ = "/tmp/jackpot-bench-postgres";
    // It refuses to run as root.
    std::string asUser_ = ::geteuid() == 0 ? "cd /tmp && su postgres -s /bin/sh -c '" : "sh -c '";
    std::string bin_;
};

// --- the figures that they are compared with

double fdatasyncOf4k(int descriptor)
{
    static std::vector<char> page(4096, 'x');
    const auto start = Clock::now();
    if (::pwrite(descriptor, page.data(), page.size(), 0) != 4096 || ::fdatasync(descriptor) != 0)
        fail("fdatasync");
    return std::chrono::duration<double>(Clock::now() - start).count();
}

bool againstPostgres(Postgres& postgres)
{
    Daemon daemon{"speed", 32};
    std::vector<double> postgresRates;
    std::vector<double> lone;
    std::vector<double> many;
    std::vector<double> bare;
    std::vector<double> spread;
    constexpr int kRounds = 3;
    for (int i = 0; i < kRounds; ++i) {
        double best = 0;
        for (const int clients : {1, 8, 32}) best = std::max(best, postgres.run(clients, 1.5));
        postgresRates.push_back(best);
        bare.push_back(
            storage::throughBareLoop(storage::PrivateKey::generate(), 1000, 250).perSecond);
        Load load{(kDirectory / "pki").string(), ids(32), daemon.port()};
        (void)load.run(0.5, 32, 16);
        lone.push_back(load.run(2, 32, 1).perSecond);
        many.push_back(load.run(2, 32, 16).perSecond);
        const auto half = load.runAt(many.back() / 2, 2, 32);
        spread.push_back(half.at(0.99) / half.at(0.5));
        std::printf(
            "PostgreSQL %.0f, one in flight %.0f, 16 in flight %.0f, bare loop %.0f a "
            "second; at half load (%.0f/s) median %.2f ms, p99 %.2f ms\n",
            best, lone.back(), many.back(), bare.back(), half.perSecond, half.at(0.5) * 1000,
            half.at(0.99) * 1000);
        std::fflush(stdout);
    }
    const auto ratio = [](const std::vector<double>& of, const std::vector<double>& to) {
        return median(of) / median(to);
    };
    bool good = checkTarget("32 tables, one in flight / PostgreSQL", ratio(lone, postgresRates), 8);
    good =
        checkTarget("32 tables, 16 in flight / PostgreSQL", ratio(many, postgresRates), 45) && good;
    good =
        checkTarget("32 tables, 16 in flight / bare storage loop", ratio(many, bare), 0.55) && good;
    good = checkTarget("at half load: p99 / median", median(spread), 10, false) && good;
    return good;
}

// The round trip with jackpot::link, which writes each command to the disk before it sends it.
double throughOutbox()
{
    Daemon daemon{"outbox", 1};
    fs::remove(kDirectory / "table.outbox");  // of a run that was cut short
    const std::string pki = (kDirectory / "pki").string();
    auto table = link::TableLink::open({.host = "127.0.0.1",
                                        .port = daemon.port(),
                                        .table = tableId(0),
                                        .certificate = pki + "/table/" + tableId(0) + ".pem",
                                        .key = pki + "/table/" + tableId(0) + ".key",
                                        .ca = pki + "/ca.pem",
                                        .outbox = kDirectory / "table.outbox"},
                                       {});
    if (!table || !(*table)->waitOnline(std::chrono::seconds{10})) fail("the table is not online");
    std::vector<double> trips;
    for (int i = 1; i <= 300; ++i) {
        const auto start = Clock::now();
        const auto number = (*table)->send(
            link::OpenRound{.round = i, .wagers = {{.seat = 1}, {.seat = 2}, {.seat = 3}}});
        if (!number || !(*table)->wait(*number, std::chrono::seconds{5})) fail("no decision");
        trips.push_back(std::chrono::duration<double>(Clock::now() - start).count());
        std::this_thread::sleep_for(std::chrono::milliseconds{3});
    }
    return median(trips);
}

bool roundTrips()
{
    Daemon daemon{"trip", 1};
    Load load{(kDirectory / "pki").string(), ids(1), daemon.port()};
    load.idle(0.3);
    const int file = ::open((kDirectory / "sync").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; i < 50; ++i) (void)fdatasyncOf4k(file);
    std::vector<double> trips;
    std::vector<double> syncs;
    for (int i = 0; i < 400; ++i) {
        syncs.push_back(fdatasyncOf4k(file));
        trips.push_back(load.roundTrip());
        load.idle(0.003);
    }
    ::close(file);
    std::printf(
        "one idle table: %.0f us a round trip, fdatasync %.0f us; with a durable outbox %.0f us\n",
        median(trips) * 1e6, median(syncs) * 1e6, throughOutbox() * 1e6);
    return checkTarget("round trip / fdatasync of 4 KiB", median(trips) / median(syncs), 2.2,
                       false);
}

// For a profiler: one kind of load for `seconds`.
void loadOnly(std::size_t inFlight, double seconds)
{
    Daemon daemon{"load", 32};
    Load load{(kDirectory / "pki").string(), ids(32), daemon.port()};
    const double before = daemon.processorSeconds();
    const auto result = load.run(seconds, 32, inFlight);
    std::printf(
        "%zu in flight: %.0f a second, median %.2f ms, p99 %.2f ms, %.1f us of the daemon a "
        "command\n",
        inFlight, result.perSecond, result.at(0.5) * 1000, result.at(0.99) * 1000,
        (daemon.processorSeconds() - before) / (result.perSecond * seconds) * 1e6);
}

// Processor time of the daemon for each command: it must not grow with the number of tables or
// records.
bool growth()
{
    std::map<std::string, double> cost;
    const auto measure = [&](const std::string& what, int tables, int pools,
                             std::int64_t records = 0) {
        Daemon daemon{"growth", tables, pools, records};
        // Each start verifies older records in the background; wait until that is done.
        std::this_thread::sleep_for(std::chrono::seconds{records / 400'000});
        Load load{(kDirectory / "pki").string(), ids(tables), daemon.port()};
        (void)load.run(0.5, 10, 16);
        const double before = daemon.processorSeconds();
        const auto result = load.run(3, 10, 16);
        cost[what] = (daemon.processorSeconds() - before) / (result.perSecond * 3) * 1e6;
        std::printf("%s: %.2f us of the daemon's processors a command, %.0f a second, %.0f MB\n",
                    what.c_str(), cost[what], result.perSecond, daemon.residentMegabytes());
        std::fflush(stdout);
        return daemon.residentMegabytes();
    };
    (void)measure("10 tables", 10, 1);
    (void)measure("200 tables", 200, 1);
    const double resident = measure("2000 tables", 2000, 1);
    (void)measure("2000 tables, 100 pools", 2000, 100);
    (void)measure("10 tables, 1 million records", 10, 1, 1'000'000);
    (void)measure("10 tables, 10 million records", 10, 1, 10'000'000);
    bool good = checkTarget("cost at 2,000 tables / at 10", cost["2000 tables"] / cost["10 tables"],
                            1.5, false);
    good = checkTarget("cost at 100 pools / at 1",
                       cost["2000 tables, 100 pools"] / cost["2000 tables"], 1.25, false) &&
           good;
    good = checkTarget("cost after 1 million records / at the beginning",
                       cost["10 tables, 1 million records"] / cost["10 tables"], 1.25, false) &&
           good;
    good = checkTarget("cost after 10 million records / at the beginning",
                       cost["10 tables, 10 million records"] / cost["10 tables"], 1.25, false) &&
           good;
    good = checkTarget("megabytes resident with 2,000 tables", resident, 200, false) && good;
    return good;
}

}  // namespace
}  // namespace jackpot::bench

int main(int count, char** arguments)
{
    using namespace jackpot::bench;
    const std::string only = count > 1 ? arguments[1] : "";
    try {
        std::filesystem::create_directories(kDirectory);
        std::filesystem::remove_all(kDirectory / "pki");
        makeCertificates(only == "growth" || only.empty() ? 2000 : 32);
        bool good = true;
        if (only == "load")
            for (const std::size_t inFlight : {1U, 16U}) loadOnly(inFlight, 5);
        if (only.empty() || only == "postgres") {
            Postgres postgres;
            good = againstPostgres(postgres) && good;
        }
        if (only.empty() || only == "trip") good = roundTrips() && good;
        if (only.empty() || only == "growth") good = growth() && good;
        std::filesystem::remove_all(kDirectory);
        return good ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "bench_link: %s\n", error.what());
        return 2;
    }
}
