#include "jackpotd/witness.h"

#include <fcntl.h>
#include <syslog.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "audit/journal_view.h"
#include "audit/proof_builder.h"
#include "base/encoding.h"
#include "base/iso_time.h"
#include "net/https_client.h"
#include "storage/add_checkpoint.h"
#include "storage/journal.h"

namespace jackpot {
namespace {

constexpr std::chrono::seconds kRequestTimeout{10};
constexpr std::size_t kMaxReplyBytes = 16U << 10U;
constexpr std::chrono::minutes kBetweenAlarms{10};

// "2026-11-16T21:00:00.000Z 1234 bm90ZQ==": when, how many records, the signed note in base64.
std::string lineOf(const std::string& note)
{
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const auto checkpoint = storage::readCheckpoint(note);
    return isoTime(now.count()) + " " + std::to_string(checkpoint ? checkpoint->size : 0) + " " +
           encodeBase64(note);
}

}  // namespace

Witness::Witness(config::WitnessConfig config, net::TlsFiles tls,
                 std::filesystem::path journalDirectory, ChangeSignal& commits, const Log& log,
                 Raise raise)
    : config_{std::move(config)},
      tls_{std::move(tls)},
      directory_{std::move(journalDirectory)},
      commits_{commits},
      log_{log},
      raise_{std::move(raise)}
{
    if (config_.file)
        targets_.push_back(
            {config_.file->string(), [this](const std::string& note) { return append(note); }});
    if (config_.syslog)
        targets_.push_back({"syslog", [](const std::string& note) {
                                ::syslog(LOG_DAEMON | LOG_NOTICE, "jackpotd checkpoint %s",
                                         lineOf(note).c_str());
                                return Result<void>{};
                            }});
    if (!config_.url.empty())
        targets_.push_back({config_.url, [this](const std::string& note) { return push(note); }});
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void Witness::run(const std::stop_token& stop)
{
    stop_ = stop;
    while (!stop.stop_requested()) {
        const std::uint32_t seen = commits_.count();
        const auto next = std::chrono::steady_clock::now() + std::chrono::seconds{config_.everyS};
        bool isDone = false;
        try {
            isDone = sendToAll();
        } catch (const std::exception& error) {
            log_.warning(std::string{"checkpoints cannot be sent to the witnesses: "} +
                         error.what());
        }
        sleepUntil(next, stop);
        if (isDone) commits_.wait(seen, ChangeSignal::kForever, stop);
    }
}

bool Witness::sendToAll()
{
    auto reader = storage::JournalReader::open(directory_ / storage::kJournalName);
    if (!reader) throw std::runtime_error{reader.error().message};
    const auto last = reader->lastNote();
    if (!last) throw std::runtime_error{last.error().message};
    const std::string note = last->value_or("");
    const auto checkpoint = storage::readCheckpoint(note);
    if (!checkpoint) throw std::runtime_error{checkpoint.error().message};
    const std::uint64_t size = checkpoint->size;
    bool isDone = true;
    for (WitnessTarget& target : targets_) {
        if (target.sent == size) continue;
        const auto sent = target.send(note);
        if (stop_.stop_requested()) return false;
        if (sent) {
            if (target.failing)
                log_.information("the witness " + target.name + " receives checkpoints again");
            target.failing = false;
            target.sent = size;
            continue;
        }
        isDone = false;
        if (std::exchange(target.failing, true)) continue;
        const std::string what =
            "the witness " + target.name + " does not receive checkpoints: " + sent.error().message;
        const auto now = std::chrono::steady_clock::now();
        if (now < target.quietUntil) {
            log_.warning(what);
            continue;
        }
        target.quietUntil = now + kBetweenAlarms;
        raise_("witness", what);
    }
    return isDone;
}

Result<void> Witness::append(const std::string& note) const
{
    const std::string line = lineOf(note) + "\n";
    const int file = ::open(config_.file->c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    const bool written =
        file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
        ::fsync(file) == 0;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (!written) return Error{std::generic_category().message(error)};
    return {};
}

// The witness answers 409 with its number of records; the second request has the right proof.
Result<void> Witness::push(const std::string& note)
{
    constexpr int kConflict = 409;
    constexpr int kGood = 200;
    const net::HttpsClient client{{.url = config_.url,
                                   .ca = tls_.ca,
                                   .certificate = tls_.certificate,
                                   .key = tls_.key,
                                   .timeout = kRequestTimeout,
                                   .maxReplyBytes = kMaxReplyBytes,
                                   .requiresTls13 = true}};
    for (int attempt = 0; attempt < 2; ++attempt) {
        storage::AddCheckpoint asked{witnessed_, {}, note};
        std::uint64_t size = 0;
        try {
            if (witnessed_ == 0) {
                size = storage::readCheckpoint(note)->size;
            } else {
                audit::JournalView journal{{directory_}};
                size = journal.end();
                asked.note = journal.noteText();
                if (witnessed_ > size)
                    return Error{"it has seen " + std::to_string(witnessed_) +
                                 " records, the journal has " + std::to_string(size) +
                                 ": it was rolled back"};
                if (witnessed_ < size)
                    asked.proof = audit::ProofBuilder{journal}.consistency(witnessed_);
            }
        } catch (const audit::AuditError& error) {
            return Error{error.what()};
        }
        const auto answer = client.send({.method = "POST",
                                         .path = "/add-checkpoint",
                                         .body = asked.format(),
                                         .headers = {{"Content-Type", "text/plain"}}},
                                        stop_);
        if (!answer) return answer.error();
        if (answer->status == kGood) {
            witnessed_ = size;
            return {};
        }
        const auto has =
            parseDecimal(std::string_view{answer->body}.substr(0, answer->body.find('\n')));
        if (answer->status != kConflict || attempt > 0 || !has)
            return Error{"it answered " + std::to_string(answer->status) + " " +
                         answer->body.substr(0, 200)};
        witnessed_ = *has;
    }
    return Error{"it rejects the proof that it requested"};
}

}  // namespace jackpot
