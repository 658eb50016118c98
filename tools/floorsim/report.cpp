#include "tools/floorsim/report.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cstdio>

#include "base/printable.h"

namespace jackpot::floorsim {
namespace {

std::string fixed(double value, int decimals)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string padded(std::string text, std::size_t width)
{
    if (text.size() < width) text.resize(width, ' ');
    return text;
}

double perSecond(std::uint64_t count, double seconds)
{
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

std::string poolCheck(const PoolAccount& pool)
{
    if (!pool.terms().isAllOurs) return "not checked: other tables play for it, or no --config";
    if (!pool.isChecked()) return "not checked";
    if (!pool.isExact()) return "known to a cent: it was played before this run";
    return "exactly " + exactDollars(pool.units());
}

}  // namespace

std::string progressLine(const FloorView& view)
{
    const auto& totals = view.books.totals();
    std::string line = std::string{view.phase} + ": " + std::to_string(view.online) + "/" +
                       std::to_string(view.books.tables().size()) + " tables, " +
                       std::to_string(totals.rounds) + " rounds, " +
                       fixed(perSecond(view.rounds, view.elapsedS), 0) + "/s, " +
                       std::to_string(totals.wagers) + " wagers";
    for (std::size_t i = 0; i < view.books.pools().size() && i < 4; ++i)
        line += ", " + printable(view.books.pools()[i].terms().id) + " " +
                dollars(view.books.shownCents(static_cast<std::uint32_t>(i)));
    if (view.books.mistakeCount() > 0)
        line += ", " + std::to_string(view.books.mistakeCount()) + " DIFFERENCES";
    return line;
}

std::string progressScreen(const FloorView& view)
{
    const auto& totals = view.books.totals();
    std::string text = "\033[H\033[J";
    text += "floorsim: " + std::string{view.phase} + ", " + fixed(view.elapsedS, 1) + " s\n\n";
    text += padded("pool", 18) + padded("shows", 20) + "by the books\n";
    for (std::size_t i = 0; i < view.books.pools().size() && i < 20; ++i) {
        const PoolAccount& pool = view.books.pools()[i];
        text += padded(printable(pool.terms().id), 18) +
                padded(dollars(view.books.shownCents(static_cast<std::uint32_t>(i))), 20) +
                (pool.isChecked() ? dollars(pool.shownCents()) : "-") + "\n";
    }
    const auto count = [](std::uint64_t number) { return padded(std::to_string(number), 14); };
    text += "\ntables    " + std::to_string(view.online) + " of " +
            std::to_string(view.books.tables().size()) + " online, " +
            std::to_string(view.connections) + " connections made\n";
    text += "rounds    " + count(totals.rounds) + fixed(perSecond(view.rounds, view.elapsedS), 0) +
            " a second\n";
    text += "wagers    " + count(totals.wagers) + "refusals " + std::to_string([&] {
                std::uint64_t sum = 0;
                for (const auto& [code, number] : totals.refusals) sum += number;
                return sum;
            }()) +
            "\n";
    const Latencies& latencies = view.books.latencies();
    text += "decided   in " + fixed(latencies.quantileUs(0.5) / 1000, 2) + " ms, 99 % in " +
            fixed(latencies.quantileUs(0.99) / 1000, 2) + " ms\n\n";
    for (std::size_t i = 1; i < totals.awards.size(); ++i)
        if (totals.awards[i].count > 0)
            text += padded(std::string{nameOf(static_cast<Tier>(i))}, 28) +
                    count(totals.awards[i].count) + dollars(totals.awards[i].cents) + "\n";
    if (view.books.mistakeCount() > 0) {
        text += "\n" + std::to_string(view.books.mistakeCount()) + " differences, the first:\n";
        text += printable(view.books.mistakes().front()) + "\n";
    }
    text += "\nCtrl-C finishes the open rounds and ends the run\n";
    return text;
}

std::string reportText(const FloorResult& result)
{
    const FloorView& view = result.view;
    const Books& books = view.books;
    const auto& totals = books.totals();
    const Latencies& latencies = view.books.latencies();
    std::string text;
    const auto line = [&](const char* name, const std::string& value) {
        text += padded(name, 18) + value + "\n";
    };
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    line("tables", number(books.tables().size()));
    line("rounds", number(totals.rounds));
    line("wagers", number(totals.wagers) + " accepted");
    line("commands", number(totals.commands));
    line("rounds a second", fixed(perSecond(view.rounds, view.elapsedS), 1) + " over " +
                                fixed(view.elapsedS, 1) + " s, " + fixed(view.cpuS, 1) +
                                " s of CPU");
    line("decided in", fixed(latencies.quantileUs(0.5) / 1000, 3) + " ms median, " +
                           fixed(latencies.quantileUs(0.99) / 1000, 3) + " ms p99, " +
                           fixed(latencies.maxUs() / 1000, 3) + " ms at most");
    line("connections",
         number(view.connections) + ", so " +
             number(view.connections -
                    std::min<std::uint64_t>(view.connections, books.tables().size())) +
             " reconnects");
    line("repeated answers", number(totals.repeatedAnswers));
    line("receipts", number(totals.receipts) + ", " + number(totals.verified) +
                         " signatures verified, the last for " + number(books.receiptSize()) +
                         " records");
    line("voids",
         number(totals.voidedRounds) + " rounds, " + number(totals.voidedWagers) + " wagers");
    line("corrections", number(totals.corrections));
    line("closed", number(totals.closed) + " rounds by the table");
    const FaultsInjected& injected = view.injected;
    line("faults", number(injected.disconnects) + " disconnects, " + number(injected.resends) +
                       " resends, " + number(injected.duplicates) + " duplicates, " +
                       number(injected.lateResults) + " late results, " +
                       number(injected.latePresses) + " late presses, " +
                       number(injected.suspends) + " suspensions, " + number(injected.wrongCounts) +
                       " wrong counts");
    if (injected.forcedJackpots > 0) line("forced jackpots", number(injected.forcedJackpots));
    for (const auto& [code, count] : totals.refusals)
        line("refused", number(count) + " " + printable(code));
    for (const auto& [why, count] : totals.goodbyes) line("goodbye", number(count) + " " + why);
    if (totals.rejected > 0) line("rejected", number(totals.rejected));

    text += "\n";
    for (std::size_t i = 1; i < totals.awards.size(); ++i)
        if (totals.awards[i].count > 0)
            text += padded(std::string{nameOf(static_cast<Tier>(i))}, 28) +
                    padded(number(totals.awards[i].count), 10) + dollars(totals.awards[i].cents) +
                    "\n";
    text += "\n";
    for (std::size_t i = 0; i < books.pools().size(); ++i) {
        const PoolAccount& pool = books.pools()[i];
        text += "pool " + printable(pool.terms().id) + " shows " +
                dollars(books.shownCents(static_cast<std::uint32_t>(i))) + ": " + poolCheck(pool) +
                "; " + number(books.winsHeld(static_cast<std::uint32_t>(i))) +
                " jackpots held for a ruling, " + number(pool.compared()) +
                " amounts compared, contributed " + exactDollars(pool.contributed()) +
                ", returned " + exactDollars(pool.returned()) + "\n";
    }
    if (totals.awardsNotListed > 0)
        text += number(totals.awardsNotListed) +
                " awards are too many to be listed as due at the end: not compared there\n";
    if (!result.notes.empty()) {
        text += "\nlinks (the first " + number(result.notes.size()) + " remarks):\n";
        for (std::size_t i = 0; i < result.notes.size() && i < 10; ++i)
            text += "  " + printable(result.notes[i]) + "\n";
    }
    text += "\n";
    if (books.mistakeCount() == 0) {
        text += "The books agree.\n";
    } else {
        text += "THE BOOKS DIFFER, " + number(books.mistakeCount()) + " times:\n";
        for (const std::string& mistake : books.mistakes())
            text += "  " + printable(mistake) + "\n";
        if (books.mistakeCount() > books.mistakes().size()) text += "  ...\n";
    }
    return text;
}

namespace {

// Writes the report as JSON, a part at a time.
class JsonReport {
public:
    JsonReport()
    {
        json_.SetIndent(' ', 2);
        json_.SetMaxDecimalPlaces(3);
    }

    std::string write(const FloorResult& result, std::uint64_t seed)
    {
        const Books& books = result.view.books;
        const auto& totals = books.totals();
        json_.StartObject();
        flag("agrees", books.mistakeCount() == 0);
        flag("interrupted", result.wasInterrupted);
        count("seed", seed);
        count("tables", books.tables().size());
        count("rounds", totals.rounds);
        count("wagers", totals.wagers);
        count("commands", totals.commands);
        object("measured", [&] { writeMeasured(result.view); });
        writeTotals(result.view);
        key("pools");
        json_.StartArray();
        for (std::uint32_t i = 0; i < books.pools().size(); ++i) writePool(books, i);
        json_.EndArray();
        count("awards_not_listed", totals.awardsNotListed);
        count("differences", books.mistakeCount());
        texts("different", books.mistakes());
        texts("links", result.notes);
        json_.EndObject();
        return std::string{buffer_.GetString()} + "\n";
    }

private:
    void writeMeasured(const FloorView& view)
    {
        const Latencies& latencies = view.books.latencies();
        real("seconds", view.elapsedS);
        count("rounds", view.rounds);
        count("commands", view.commands);
        real("rounds_per_second", perSecond(view.rounds, view.elapsedS));
        real("commands_per_second", perSecond(view.commands, view.elapsedS));
        real("cpu_seconds", view.cpuS);
        object("latency_us", [&] {
            real("p50", latencies.quantileUs(0.5));
            real("p90", latencies.quantileUs(0.9));
            real("p99", latencies.quantileUs(0.99));
            real("p999", latencies.quantileUs(0.999));
            real("max", latencies.maxUs());
        });
    }

    void writeTotals(const FloorView& view)
    {
        const auto& totals = view.books.totals();
        count("connections", view.connections);
        count("answers_again", totals.repeatedAnswers);
        count("rejected", totals.rejected);
        count("receipts", totals.receipts);
        count("signatures_verified", totals.verified);
        count("records", view.books.receiptSize());
        object("refusals", [&] {
            for (const auto& [code, number] : totals.refusals) count(code, number);
        });
        object("goodbyes", [&] {
            for (const auto& [why, number] : totals.goodbyes) count(why, number);
        });
        object("voids", [&] {
            count("rounds", totals.voidedRounds);
            count("wagers", totals.voidedWagers);
        });
        count("corrections", totals.corrections);
        count("closed", totals.closed);
        object("faults", [&] {
            count("disconnect", view.injected.disconnects);
            count("resend", view.injected.resends);
            count("duplicate", view.injected.duplicates);
            count("void", view.injected.voids);
            count("correct", view.injected.corrections);
            count("suspend", view.injected.suspends);
            count("late_result", view.injected.lateResults);
            count("late_press", view.injected.latePresses);
            count("wrong_count", view.injected.wrongCounts);
            count("forced_jackpots", view.injected.forcedJackpots);
        });
        object("awards", [&] {
            for (std::size_t i = 1; i < totals.awards.size(); ++i)
                object(std::string{nameOf(static_cast<Tier>(i))}, [&] {
                    count("count", totals.awards[i].count);
                    number("cents", totals.awards[i].cents);
                });
        });
    }

    void writePool(const Books& books, std::uint32_t index)
    {
        const PoolAccount& pool = books.pools()[index];
        json_.StartObject();
        text("id", pool.terms().id);
        number("shows_cents", books.shownCents(index));
        flag("checked", pool.isChecked());
        flag("exact", pool.isExact());
        text("meter", exactDollars(pool.units()));
        text("contributed", exactDollars(pool.contributed()));
        text("to_reserve", exactDollars(pool.contributedToReserve()));
        text("returned", exactDollars(pool.returned()));
        text("jackpots", exactDollars(pool.paid()));
        count("held", books.winsHeld(index));
        count("rulings", pool.rulings());
        count("amounts_compared", pool.compared());
        json_.EndObject();
    }

    void key(const std::string& name) { json_.Key(name.c_str()); }
    void value(const std::string& text)
    {
        json_.String(text.c_str(), static_cast<rapidjson::SizeType>(text.size()));
    }
    void flag(const std::string& name, bool is)
    {
        key(name);
        json_.Bool(is);
    }
    void count(const std::string& name, std::uint64_t number)
    {
        key(name);
        json_.Uint64(number);
    }
    void number(const std::string& name, std::int64_t number)
    {
        key(name);
        json_.Int64(number);
    }
    void real(const std::string& name, double number)
    {
        key(name);
        json_.Double(number);
    }
    void text(const std::string& name, const std::string& text)
    {
        key(name);
        value(text);
    }
    void texts(const std::string& name, const std::vector<std::string>& texts)
    {
        key(name);
        json_.StartArray();
        for (const std::string& each : texts) value(each);
        json_.EndArray();
    }
    template <class Fill>
    void object(const std::string& name, const Fill& fill)
    {
        key(name);
        json_.StartObject();
        fill();
        json_.EndObject();
    }

    rapidjson::StringBuffer buffer_;
    rapidjson::PrettyWriter<rapidjson::StringBuffer> json_{buffer_};
};

}  // namespace

std::string reportJson(const FloorResult& result, std::uint64_t seed)
{
    return JsonReport{}.write(result, seed);
}

}  // namespace jackpot::floorsim
