// jackpot-audit show and tail.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <stdexcept>

#include "audit/describe.h"
#include "audit/journal_view.h"
#include "tools/cli/command_error.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/output.h"
#include "tools/jackpot-audit/commands.h"

namespace jackpot::auditor {

using namespace audit;

namespace {

constexpr int kPollMs = 250;
constexpr int kMaxMovedPolls = 20;  // one after the other
constexpr std::uint64_t kMaxTail = 1'000'000;

class Tail {
public:
    explicit Tail(std::vector<std::filesystem::path> journal) : journal_{std::move(journal)} {}

    // Prints the records since the last call. Opens the files each time: an open reader would keep
    // the writer from closing a segment, and the last file may have changed.
    void print(std::uint64_t last)
    {
        // The last two files have the new records, unless more than one segment was closed.
        const std::size_t all = JournalView::kAllFiles;
        JournalView source{journal_, next_ ? 2 : all, cli::throwIfInterruptedWhileReading};
        if (next_ && source.first() > *next_)
            source = JournalView{journal_, all, cli::throwIfInterruptedWhileReading};
        if (!next_) next_ = source.end() - std::min(last, source.end() - source.first());
        if (source.end() < *next_)
            throw JournalMoved{DoesNotVerify,
                               "the journal has become shorter: it ends before record " +
                                   std::to_string(source.end())};
        source.forEach(*next_, source.end(), [&](std::uint64_t seq, std::string_view payload) {
            record_.parse(seq, payload);
            out_.line(oneLine(record_));
            next_ = seq + 1;
            return true;
        });
        out_.flush();
    }

    // Like print(), for a journal in use, whose files the writer may be renaming at this moment.
    void follow(std::uint64_t last)
    {
        try {
            print(last);
            movedPolls_ = 0;
        } catch (const JournalMoved&) {
            if (++movedPolls_ > kMaxMovedPolls) throw;
        }
    }

private:
    std::vector<std::filesystem::path> journal_;
    std::optional<std::uint64_t> next_;
    int movedPolls_ = 0;
    Payload record_;
    cli::FileOutput out_;
};

// Waits for kPollMs. False if the reader of standard output has closed it.
bool outputIsOpen()
{
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, kPollMs) <= 0 || (out.revents & (POLLERR | POLLNVAL)) == 0;
}

struct ShowOptions {
    std::uint64_t seq = 0;
    std::vector<std::string> journal;
    bool json = false;
};

int show(const ShowOptions& options)
{
    JournalView journal{{options.journal.begin(), options.journal.end()}};
    const std::string payload = journal.payload(options.seq);
    cli::FileOutput out;
    if (options.json) {
        out.lines(payload + "\n");
    } else {
        Payload record;
        record.parse(options.seq, payload);
        printRecord(record, out);
    }
    out.commit();
    return cli::kSuccess;
}

struct TailOptions {
    std::uint64_t last = 10;
    bool follow = false;
    std::vector<std::string> journal;
};

int tail(const TailOptions& options)
{
    Tail records{{options.journal.begin(), options.journal.end()}};
    if (!options.follow) {
        records.print(options.last);
        return cli::kSuccess;
    }
    cli::catchInterrupts();
    (void)std::signal(SIGPIPE, SIG_IGN);
    try {
        do {
            records.follow(options.last);
        } while (outputIsOpen() && !cli::isInterrupted());
    } catch (const std::runtime_error&) {
        if (!cli::isInterrupted() && outputIsOpen()) throw;
    }
    return cli::kSuccess;
}

}  // namespace

void addShow(cli::Command& program)
{
    auto options = std::make_shared<ShowOptions>();
    program.add("show", "print one record in words")
        .describe(
            "Prints the command, its outcome (awards with their rule and arithmetic, returned "
            "wagers, claims, notices, or the refusal), the postings to each account and the pool "
            "after it. It shows the record's content; \"jackpot-audit verify\" checks whether that "
            "is right.")
        .argument("SEQ", options->seq, "the number of the record")
        .arguments("JOURNAL", options->journal, kJournalHelp)
        .flag("--json", options->json, "print the record itself, as it was signed")
        .exitStatuses({{0, "printed"},
                       {1, "the record cannot be read"},
                       {2,
                        "the command line is wrong, there is no such record, or the journal cannot "
                        "be read"}})
        .run([options] { return show(*options); });
}

void addTail(cli::Command& program)
{
    auto options = std::make_shared<TailOptions>();
    program.add("tail", "print the last records, one line each")
        .describe(
            "Prints number, time (UTC), kind, command and outcome of each record, and what the "
            "pool "
            "then displays.")
        .arguments("JOURNAL", options->journal, kJournalHelp)
        .number("-n N", options->last, {0, kMaxTail}, "the number of records")
        .flag("-f", options->follow, "continue with each new record until interrupted")
        .exitStatuses({{0, "printed, or interrupted while following"},
                       {1, "a record cannot be read"},
                       {2, "the command line is wrong, or the journal cannot be read"}})
        .example("jackpot-audit tail -f /var/lib/jackpotd/journal")
        .run([options] { return tail(*options); });
}

}  // namespace jackpot::auditor
