#include "jackpotd/witness.h"

#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HTTPSClientSession.h>
#include <Poco/URI.h>
#include <fcntl.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "audit/source.h"
#include "audit/time.h"
#include "audit/tree.h"
#include "storage/add_checkpoint.h"
#include "storage/encoding.h"
#include "storage/journal.h"

namespace jackpot {
namespace {

constexpr int kTimeoutS = 5;
constexpr std::size_t kMaxAnswerBytes = 4096;

// "2026-11-16T21:00:00.000Z 1234 bm90ZQ==": when, how many records, the signed note in base64.
std::string lineOf(const std::string& note)
{
    const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const auto checkpoint = storage::readCheckpoint(note);
    return audit::isoTime(now.count()) + " " + std::to_string(checkpoint ? checkpoint->size : 0) +
           " " + storage::encodeBase64(note);
}

struct Answer {
    int status = 0;
    std::string body;
};

// The certificate is checked by OpenSSL, as jackpotctl does at the desk: POCO's own check knows no
// addresses, and leaves it out for this machine.
Result<Answer> post(const std::string& url, const std::string& ca, const std::string& body,
                    const std::stop_token& stop)
{
    using namespace Poco::Net;
    try {
        const Poco::URI uri{url};
        const std::string& host = uri.getHost();
        Context::Ptr context{new Context{Context::TLS_CLIENT_USE, "", "", ca,
                                         Context::VERIFY_STRICT, 9, ca.empty()}};
        context->requireMinimumProtocol(Context::PROTO_TLSV1_2);
        context->enableExtendedCertificateVerification(false);
        X509_VERIFY_PARAM* const check = SSL_CTX_get0_param(context->sslContext());
        if (X509_VERIFY_PARAM_set1_ip_asc(check, host.c_str()) != 1 &&
            X509_VERIFY_PARAM_set1_host(check, host.c_str(), host.size()) != 1)
            return Error{host + ": no host"};
        HTTPSClientSession session{host, uri.getPort(), context};
        session.setTimeout(Poco::Timespan{kTimeoutS, 0});
        // One that drips its answer does not hold the daemon up when it ends.
        const std::stop_callback abort{stop, [&session] { session.abort(); }};
        HTTPRequest request{"POST", uri.getPath() + "/add-checkpoint", HTTPMessage::HTTP_1_1};
        request.setContentType("text/plain");
        request.setContentLength(static_cast<std::streamsize>(body.size()));
        session.sendRequest(request) << body;
        HTTPResponse response;
        std::istream& in = session.receiveResponse(response);
        std::array<char, kMaxAnswerBytes> piece{};
        in.read(piece.data(), piece.size());
        return Answer{response.getStatus(), {piece.data(), static_cast<std::size_t>(in.gcount())}};
    } catch (const Poco::Exception& error) {
        return Error{error.displayText()};
    }
}

}  // namespace

Witness::Witness(config::WitnessConfig config, std::filesystem::path journalDirectory,
                 const Log& log, Raise raise)
    : config_{std::move(config)},
      directory_{std::move(journalDirectory)},
      log_{log},
      raise_{std::move(raise)}
{
    if (config_.file)
        ways_.push_back(
            {config_.file->string(), [this](const std::string& note) { return append(note); }});
    if (config_.syslog)
        ways_.push_back({"syslog", [](const std::string& note) {
                             ::syslog(LOG_DAEMON | LOG_NOTICE, "jackpotd checkpoint %s",
                                      lineOf(note).c_str());
                             return Result<void>{};
                         }});
    if (!config_.url.empty())
        ways_.push_back({config_.url, [this](const std::string& note) { return push(note); }});
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

void Witness::run(const std::stop_token& stop)
{
    stop_ = stop;
    std::mutex own;
    std::condition_variable_any never;
    std::unique_lock lock{own};
    while (!stop.stop_requested()) {
        tellAll();
        never.wait_for(lock, stop, std::chrono::seconds{config_.everyS}, [] { return false; });
    }
}

void Witness::tellAll()
{
    std::string note;
    std::uint64_t size = 0;
    try {
        storage::JournalReader reader{directory_ / storage::kJournalName};
        note = reader.lastNote().value_or("");
        size = reader.lastSize();
    } catch (const storage::SqliteFailure& failure) {
        log_.warning(std::string{"the witnesses cannot be told: "} + failure.what());
        return;
    }
    for (Way& way : ways_) {
        if (way.told == size) continue;
        const auto told = way.tell(note);
        if (stop_.stop_requested()) return;
        if (told) {
            if (way.failing) log_.information("the witness " + way.name + " is told again");
            way.failing = false;
            way.told = size;
        } else if (!way.failing) {
            way.failing = true;
            raise_("witness", "the witness " + way.name +
                                  " is not told of checkpoints: " + told.error().message);
        }
    }
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

// The witness says with 409 how far it is; so the second time it is asked with the right proof.
Result<void> Witness::push(const std::string& note)
{
    constexpr int kConflict = 409;
    constexpr int kGood = 200;
    for (int attempt = 0; attempt < 2; ++attempt) {
        storage::AddCheckpoint asked{witnessed_, {}, note};
        std::uint64_t size = 0;
        try {
            if (witnessed_ == 0) {
                size = storage::readCheckpoint(note)->size;
            } else {
                audit::JournalSource journal{{directory_}};
                size = journal.end();
                asked.note = journal.noteText();
                if (witnessed_ > size)
                    return Error{"it has seen " + std::to_string(witnessed_) +
                                 " records, the journal has " + std::to_string(size) +
                                 ": it was rolled back"};
                if (witnessed_ < size) asked.proof = audit::Tree{journal}.consistency(witnessed_);
            }
        } catch (const audit::Stop& stop) {
            return Error{stop.what()};
        }
        const auto answer = post(config_.url, config_.ca.string(), asked.format(), stop_);
        if (!answer) return answer.error();
        if (answer->status == kGood) {
            witnessed_ = size;
            return {};
        }
        const auto has = storage::parseDecimal(
            std::string_view{answer->body}.substr(0, answer->body.find('\n')));
        if (answer->status != kConflict || attempt > 0 || !has)
            return Error{"it answered " + std::to_string(answer->status) + " " +
                         answer->body.substr(0, 200)};
        witnessed_ = *has;
    }
    return Error{"it does not take what it asks for"};
}

}  // namespace jackpot
