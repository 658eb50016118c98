// jackpot-audit witness.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "audit/signers.h"
#include "base/encoding.h"
#include "base/iso_time.h"
#include "net/http_server.h"
#include "storage/add_checkpoint.h"
#include "storage/journal_file.h"
#include "storage/merkle.h"
#include "tools/cli/command_error.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/read_file.h"
#include "tools/cli/verifier_keys.h"
#include "tools/jackpot-audit/commands.h"

namespace jackpot::auditor {

using namespace audit;

namespace {

namespace fs = std::filesystem;
using net::Reply;
using net::Request;
using storage::Checkpoint;

constexpr off_t kMaxEvidenceBytes = 1 << 20;
constexpr auto kPollInterval = std::chrono::milliseconds{100};

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
    if (!done)
        throw cli::CommandError{cli::kBadInput, written.string() + ": " + systemError(error)};
    if (const auto synced = storage::syncDirectory(file.parent_path()); !synced)
        throw cli::CommandError{cli::kBadInput, storage::inWords(synced.error())};
}

class Witness {
public:
    Witness(fs::path store, std::vector<storage::Verifier> keys)
        : store_{std::move(store)}, keys_{std::move(keys)}
    {
        std::error_code error;
        if (!fs::exists(store_, error)) return;
        const std::string text = cli::readFile(store_, storage::kMaxNoteBytes);
        newest_ = opened(text);
        note_ = text;
        if (!newest_)
            throw cli::CommandError{cli::kBadInput,
                                    store_.string() +
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
        } catch (const cli::CommandError& error) {
            printNotice(error.what());
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

    // Report a checkpoint that is sent repeatedly only once.
    void complain(const std::string& what, const storage::AddCheckpoint& asked)
    {
        if (complaint_ == asked.note) return;
        complaint_ = asked.note;
        printNotice("COMPLAINT: " + what + ": seen before: " + inWords(*newest_) +
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

struct WitnessOptions {
    std::vector<std::string> keys;
    std::string listen;
    std::string store;
    std::string certificate;
    std::string tlsKey;
};

int keepCheckpoints(const WitnessOptions& options)
{
    net::HttpServerSettings settings;
    const std::string& listen = options.listen;
    const auto colon = std::min(listen.rfind(':'), listen.size());
    const auto port = parseDecimal(listen.substr(std::min(colon + 1, listen.size())));
    if (!port || *port > std::numeric_limits<std::uint16_t>::max() || colon == 0)
        throw cli::UsageError{"--listen takes HOST:PORT"};
    settings.port = static_cast<std::uint16_t>(*port);
    settings.host = listen.substr(0, colon);
    settings.tls = {options.certificate, options.tlsKey, {}, {}};
    settings.limits = {100, 10, 0, 10'000};
    settings.bodyType = "";

    Witness witness{options.store, cli::requiredKeys(options.keys)};
    cli::catchInterrupts();
    ::signal(SIGPIPE, SIG_IGN);  // a client that hangs up ends its connection, not the witness
    const auto server = net::HttpServer::listen(
        settings,
        {net::publicRoute("POST", "/add-checkpoint",
                          [&](const Request& request) { return witness.add(request); })},
        [](const std::string& warning) { printNotice(warning); });
    if (!server) throw cli::CommandError{cli::kBadInput, server.error().message};
    printNotice("listening on " + settings.host + ":" + std::to_string((*server)->port()));
    while (!cli::isInterrupted()) std::this_thread::sleep_for(kPollInterval);
    return witness.hasComplained() ? cli::kDoesNotVerify : cli::kSuccess;
}

}  // namespace

void addWitness(cli::Command& program)
{
    auto options = std::make_shared<WitnessOptions>();
    program.add("witness", "keep a journal's newest checkpoint on another machine")
        .describe(
            "Receives the checkpoints that jackpotd sends ([witness] url) over HTTPS, as "
            "c2sp.org/tlog-witness describes: POST /add-checkpoint with \"old SIZE\", a "
            "consistency "
            "proof, a blank line and the signed checkpoint. It keeps the newest in FILE, which "
            "jackpot-audit verify --since and jackpotctl restore --witness read. It accepts a "
            "checkpoint only with a proof that nothing of the known history was changed or "
            "removed, "
            "and rejects everything else. If the journal's own key has signed an older checkpoint "
            "or "
            "another history, it reports that on standard error and keeps both checkpoints in "
            "FILE.evidence. It runs until it is interrupted.\n\nThe first checkpoint is accepted "
            "without a proof. After people have accepted a restore (jackpotctl accept-restore), "
            "keep "
            "FILE and FILE.evidence for the inspector, and start with a new FILE.")
        .option("--listen HOST:PORT", options->listen,
                "the address to listen on; with port 0 the system chooses one, which is printed")
        .required()
        .option("--key VKEY", options->keys,
                "the journal's verifier key, or @FILE; else JACKPOT_AUDIT_KEY")
        .option("--store FILE", options->store, "the newest checkpoint")
        .required()
        .option("--cert FILE", options->certificate,
                "the certificate of this witness (jackpotctl pki issue server), PEM")
        .required()
        .option("--tls-key FILE", options->tlsKey, "the key of that certificate")
        .required()
        .exitStatuses({{0, "ended, and nothing was wrong"},
                       {1, "ended, and it has reported a wrong checkpoint"},
                       {2, "the command line is wrong, or a file cannot be read or written"}})
        .run([options] { return keepCheckpoints(*options); });
}

}  // namespace jackpot::auditor
