// jackpot-audit show and tail.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "audit/describe.h"
#include "audit/journal_view.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/output.h"

namespace jackpot::audit {
namespace {

constexpr int kPollMs = 250;
constexpr int kUnsettledAtMost = 20;  // polls one after the other
constexpr std::uint64_t kMaxTail = 1'000'000;

constexpr std::string_view kShowHelp =
    R"(jackpot-audit show - one record in words

Usage:
  jackpot-audit show SEQ [--json] JOURNAL...

Prints what was asked, what came of it (awards with their rule and arithmetic, returned wagers, claims,
notices, or the refusal), the postings to each account and the pool after it. It shows what the record
says; "jackpot-audit verify" tells whether that is right.

Options:
  --json  print the record itself, as it was signed
  --help  print this

Exit status: 0 printed; 1 the record cannot be read; 2 the command line is wrong, there is no such
record, or the journal cannot be read
)";

constexpr std::string_view kTailHelp =
    R"(jackpot-audit tail - the last records, one line each

Usage:
  jackpot-audit tail [-n N] [-f] JOURNAL

Prints number, time (UTC), kind, what happened, what came of it, and what the pool then displays.

Options:
  -n N    so many records; default 10
  -f      go on with each record that is added, until interrupted
  --help  print this

Exit status: 0 printed, or interrupted while following; 1 a record cannot be read; 2 the command line
is wrong or the journal cannot be read
)";

class Tail {
public:
    explicit Tail(std::vector<std::filesystem::path> journal) : journal_{std::move(journal)} {}

    // What was added since the last call. The files are opened anew each time: a reader that stays
    // would keep the writer from closing a segment, and the last file may be another by now.
    void print(std::uint64_t last)
    {
        // Following, the last two files will do, unless more than one segment was closed.
        const std::size_t all = JournalView::kAllFiles;
        JournalView source{journal_, next_ ? 2 : all, pauseForInterrupts};
        if (next_ && source.first() > *next_)
            source = JournalView{journal_, all, pauseForInterrupts};
        if (!next_) next_ = source.end() - std::min(last, source.end() - source.first());
        if (source.end() < *next_)
            throw JournalMoved{kDoesNotVerify,
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

    // The same for a journal in use, whose files may be getting new names right now.
    void follow(std::uint64_t last)
    {
        try {
            print(last);
            unsettled_ = 0;
        } catch (const JournalMoved&) {
            if (++unsettled_ > kUnsettledAtMost) throw;
        }
    }

private:
    std::vector<std::filesystem::path> journal_;
    std::optional<std::uint64_t> next_;
    int unsettled_ = 0;
    Payload record_;
    FileOutput out_;
};

// Whether whoever read our output is still there.
bool isRead()
{
    pollfd out{STDOUT_FILENO, 0, 0};
    return ::poll(&out, 1, kPollMs) <= 0 || (out.revents & (POLLERR | POLLNVAL)) == 0;
}

}  // namespace

int showCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kShowHelp)) return kGood;
    const Arguments arguments{"show", given, {{"--json", Option::Form::Flag}}};
    arguments.requirePositional(2, kAnyNumber, "SEQ and JOURNAL");
    const std::uint64_t seq = recordNumber(arguments, arguments.positional()[0]);
    JournalView journal{arguments.paths(1)};
    const std::string payload = journal.payload(seq);
    FileOutput out;
    if (arguments.has("--json")) {
        out.lines(payload + "\n");
    } else {
        Payload record;
        record.parse(seq, payload);
        printRecord(record, out);
    }
    out.commit();
    return kGood;
}

int tailCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kTailHelp)) return kGood;
    const Arguments arguments{
        "tail", given, {{"-n", Option::Form::Value}, {"-f", Option::Form::Flag}}};
    arguments.requirePositional(1, kAnyNumber, "JOURNAL");
    const std::uint64_t last = arguments.number("-n", 0, kMaxTail, 10);
    const bool follow = arguments.has("-f");
    Tail tail{arguments.paths(0)};
    if (!follow) {
        tail.print(last);
        return kGood;
    }
    rememberInterrupts();
    (void)std::signal(SIGPIPE, SIG_IGN);
    try {
        do {
            tail.follow(last);
        } while (isRead() && !interrupted());
    } catch (const Stop& stop) {
        if (!interrupted() && isRead()) throw;
    }
    return kGood;
}

}  // namespace jackpot::audit
