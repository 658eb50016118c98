// jackpot-audit witness.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <mutex>
#include <thread>

#include "base/encoding.h"
#include "base/iso_time.h"
#include "net/http_server.h"
#include "storage/add_checkpoint.h"
#include "storage/journal_file.h"
#include "storage/merkle.h"
#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/output.h"

namespace jackpot::audit {
namespace {

namespace fs = std::filesystem;
using net::Reply;
using net::Request;
using storage::Checkpoint;

constexpr off_t kMaxEvidenceBytes = 1 << 20;
constexpr auto kLook = std::chrono::milliseconds{100};

constexpr std::string_view kHelp =
    R"(jackpot-audit witness - keep a journal's newest checkpoint on another machine

Usage:
  jackpot-audit witness --listen HOST:PORT --key VKEY --store FILE --cert FILE --tls-key FILE

Takes checkpoints that jackpotd pushes ([witness] url) over HTTPS, as c2sp.org/tlog-witness has it: POST
/add-checkpoint with "old SIZE", a consistency proof, a blank line and the signed checkpoint. Keeps the newest in
FILE, which jackpot-audit verify --since and jackpotctl restore --witness read. It only moves on with a proof that
nothing of what it has seen was changed or removed. Everything else it refuses; and where the journal's own key has
signed an older checkpoint or another history, it says so on standard error and keeps both checkpoints in
FILE.evidence. It goes on until it is told to end.

The first checkpoint is taken as it comes. After people have accepted a restore (jackpotctl accept-restore), keep
FILE and FILE.evidence for the inspector, and start with a new FILE.

Options:
  --listen HOST:PORT  where; a port of 0 lets the system choose, and it is printed
  --key VKEY          the journal's verifier key, or @FILE; several allowed, after a rotation
  --store FILE        the newest checkpoint
  --cert FILE         the certificate of this witness (jackpotctl pki issue server), PEM
  --tls-key FILE      and its key
  --help              print this

Exit status: 0 ended, and nothing was wrong; 1 ended, and it had something to complain of; 2 the command line is
wrong, or something cannot be read or written
)";

Reply answer(int status, std::string body, std::string type = "text/plain; charset=utf-8")
{
    Reply reply;
    reply.status = status;
    reply.body = std::move(body);
    reply.contentType = std::move(type);
    return reply;
}

std::string inWords(const Checkpoint& checkpoint)
{
    return std::to_string(checkpoint.size) + " records with the root " + checkpoint.root.base64();
}

// Replaces the file, or appends to it; durable when it returns.
void writeDurably(const fs::path& file, std::string_view bytes, bool append)
{
    const fs::path written = append ? file : fs::path{file.string() + ".new"};
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
    const int descriptor = ::open(written.c_str(), flags, 0644);
    const bool done =
        descriptor >= 0 &&
        ::write(descriptor, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
        ::fsync(descriptor) == 0 && (append || ::rename(written.c_str(), file.c_str()) == 0);
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!done) throw Stop{kBadInput, written.string() + ": " + systemError(error)};
    if (const auto synced = storage::syncDirectory(file.parent_path()); !synced)
        throw Stop{kBadInput, storage::inWords(synced.error())};
}

class Witness {
public:
    Witness(fs::path store, std::vector<storage::Verifier> keys)
        : store_{std::move(store)}, keys_{std::move(keys)}
    {
        std::error_code error;
        if (!fs::exists(store_, error)) return;
        const std::string text = readFile(store_, storage::kMaxNoteBytes);
        newest_ = opened(text);
        note_ = text;
        if (!newest_)
            throw Stop{kBadInput, store_.string() +
                                      ": it holds no checkpoint that the key has signed: name "
                                      "another file"};
    }

    Reply add(const Request& request)
    {
        const auto asked = storage::AddCheckpoint::parse(request.body);
        if (!asked) return answer(400, asked.error().message + "\n");
        const auto checkpoint = opened(asked->note);
        if (!checkpoint) return answer(403, "it is not signed with the key of this witness\n");
        if (asked->old > checkpoint->size)
            return answer(400, "the old size is larger than the checkpoint's\n");
        const std::scoped_lock lock{mutex_};
        try {
            return add(*asked, *checkpoint);
        } catch (const Stop& stop) {
            say(stop.what());
            return answer(500, "the checkpoint cannot be kept\n");
        }
    }

    [[nodiscard]] bool hasComplained() const
    {
        const std::scoped_lock lock{mutex_};
        return !complaint_.empty();
    }

private:
    [[nodiscard]] std::optional<Checkpoint> opened(const std::string& text) const
    {
        const auto note = storage::Note::parse(text);
        const storage::Verifier* const key = note ? signerAmong(keys_, *note) : nullptr;
        if (key == nullptr) return std::nullopt;
        auto checkpoint = openCheckpoint(*note, *key);
        if (!checkpoint) return std::nullopt;
        return std::move(*checkpoint);
    }

    Reply add(const storage::AddCheckpoint& asked, const Checkpoint& checkpoint)
    {
        const std::uint64_t size = newest_ ? newest_->size : 0;
        const auto conflict = [&] {
            return answer(409, std::to_string(size) + "\n", "text/x.tlog.size");
        };
        if (newest_ && checkpoint.size < size) {
            complain("an older checkpoint was shown: the journal may have been rolled back", asked);
            return conflict();
        }
        if (newest_ && checkpoint.size == size && checkpoint.root != newest_->root) {
            complain("two histories of one size: the journal was changed", asked);
            return conflict();
        }
        if (asked.old != size) return conflict();
        if (newest_ && checkpoint.size == size) return answer(200, "");
        if (const auto grown = newest_ ? verifyConsistency(size, checkpoint.size, newest_->root,
                                                           checkpoint.root, asked.proof)
                                       : Result<void>{};
            !grown) {
            complain("there is no proof that the journal has only grown: it may be another history",
                     asked);
            return answer(422, grown.error().message + "\n");
        }
        writeDurably(store_, asked.note, false);
        newest_ = checkpoint;
        note_ = asked.note;
        return answer(200, "");
    }

    // Once for each checkpoint that comes again and again.
    void complain(const std::string& what, const storage::AddCheckpoint& asked)
    {
        if (complaint_ == asked.note) return;
        complaint_ = asked.note;
        say("COMPLAINT: " + what + ": seen before: " + inWords(*newest_) +
            "; shown now: " + inWords(opened(asked.note).value()));
        const fs::path evidence = store_.string() + ".evidence";
        struct stat status {};
        if (::stat(evidence.c_str(), &status) == 0 && status.st_size > kMaxEvidenceBytes) return;
        const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
            std::chrono::system_clock::now().time_since_epoch());
        writeDurably(evidence,
                     isoTime(now.count()) + " " + what + "\n\nseen before:\n" + note_ +
                         "\nshown now:\n" + asked.note + "\n",
                     true);
    }

    const fs::path store_;
    const std::vector<storage::Verifier> keys_;
    mutable std::mutex mutex_;
    std::optional<Checkpoint> newest_;
    std::string note_;
    std::string complaint_;  // the last one's checkpoint
};

std::string needed(const Arguments& arguments, std::string_view option)
{
    auto value = arguments.value(option);
    if (!value) arguments.refuse(std::string{option} + " is needed");
    return *value;
}

}  // namespace

int witnessCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kHelp)) return kGood;
    const Arguments arguments{"witness",
                              given,
                              {kKeyOption,
                               {"--listen", Option::Form::Value},
                               {"--store", Option::Form::Value},
                               {"--cert", Option::Form::Value},
                               {"--tls-key", Option::Form::Value}}};
    arguments.requirePositional(0, 0, "no argument but its options");
    net::HttpServerSettings settings;
    const std::string listen = needed(arguments, "--listen");
    const auto colon = std::min(listen.rfind(':'), listen.size());
    const auto port = parseDecimal(listen.substr(std::min(colon + 1, listen.size())));
    if (!port || *port > std::numeric_limits<std::uint16_t>::max() || colon == 0)
        arguments.refuse("--listen takes HOST:PORT");
    settings.port = static_cast<std::uint16_t>(*port);
    settings.host = listen.substr(0, colon);
    settings.tls = {needed(arguments, "--cert"), needed(arguments, "--tls-key"), {}, {}};
    settings.limits = {100, 10, 0, 10'000};
    settings.bodyType = "";

    Witness witness{needed(arguments, "--store"), requiredKeys(arguments)};
    rememberInterrupts();
    ::signal(SIGPIPE, SIG_IGN);  // who hangs up early ends a connection, not the witness
    const auto server = net::HttpServer::listen(
        settings,
        {net::publicRoute("POST", "/add-checkpoint",
                          [&](const Request& request) { return witness.add(request); })},
        [](const std::string& warning) { say(warning); });
    if (!server) throw Stop{kBadInput, server.error().message};
    say("listening on " + settings.host + ":" + std::to_string((*server)->port()));
    while (!interrupted()) std::this_thread::sleep_for(kLook);
    return witness.hasComplained() ? kDoesNotVerify : kGood;
}

}  // namespace jackpot::audit
