// A site's certificate authority in one directory:
//
//   ca.pem ca.key      the authority (the key may be kept elsewhere while nothing is issued)
//   crl.pem            what is revoked
//   index              one certificate a line, the truth about what was issued
//   server/ table/ operator/    NAME.pem and NAME.key, the latest of each name
//   issued/            SERIAL.pem, every certificate
//
// Every change is atomic: it is valid once the index has its new contents, and the next command
// completes or discards an interrupted one. Commands wait for each other. Errors throw a
// cli::CommandError that names the remedy, and change nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/jackpotctl/pki_certificate.h"

namespace jackpot::ctl::pki {

inline constexpr Seconds kAuthorityDays = 3650;
inline constexpr Seconds kServerDays = 397;  // the most that TLS clients commonly accept
inline constexpr Seconds kClientDays = 730;
inline constexpr Seconds kCrlDays = 30;
inline constexpr Seconds kWarnDays = 30;
inline constexpr Seconds kCrlWarnDays = 10;  // a third of its life

struct Entry {
    std::string serial;
    Kind kind = Kind::Table;
    std::string name;
    Seconds notAfter = 0;
    std::optional<Revoked> revoked;
};

struct IssueOptions {
    std::vector<std::string> hosts;  // of a server; none: as before, or this machine alone
    std::optional<Seconds> days;
};

// Ids of tables as in the configuration; names of servers and operators alike, but longer.
Result<void> checkName(Kind kind, std::string_view name);

class Descriptor {
public:
    explicit Descriptor(int number) : number_{number} {}
    ~Descriptor();
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

class Authority {
public:
    // Makes the directory, the authority, the first server's certificate and an empty revocation
    // list, all or nothing.
    static void init(const std::filesystem::path& directory, const std::string& serverName,
                     const IssueOptions& options, Seconds now);

    enum class For : std::uint8_t { Reading, Changing };
    // Waits until no other process is changing the directory.
    Authority(std::filesystem::path directory, For use);

    Entry issue(Kind kind, const std::string& name, const IssueOptions& options, Seconds now);
    // With a new key. The old certificate stays valid until it expires, unless it is revoked.
    Entry renew(Kind kind, const std::string& name, const IssueOptions& options, bool revokeOld,
                Seconds now);
    // Revokes every certificate of the name that is neither expired nor revoked, or only the one
    // with the serial.
    std::vector<Entry> revoke(Kind kind, const std::string& name,
                              const std::optional<std::string>& serial, Reason reason, Seconds now);
    void writeCrl(Seconds now, Seconds days = kCrlDays);

    [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
    [[nodiscard]] Seconds authorityNotAfter() const;
    [[nodiscard]] Seconds crlNextUpdate() const;
    [[nodiscard]] std::filesystem::path fileOf(Kind kind, const std::string& name,
                                               std::string_view suffix) const;

private:
    [[nodiscard]] Issuer issuer() const;
    void readIndex();
    void writeIndex(const std::vector<Entry>& entries);
    void finishInterrupted();
    Entry make(Kind kind, const std::string& name, const IssueOptions& options,
               std::vector<Entry> entries, Seconds now);

    std::filesystem::path directory_;
    Descriptor lock_;  // of the directory itself
    std::vector<Entry> entries_;
};

// "2026-11-16T14:45:06Z"
std::string inUtc(Seconds seconds);
std::optional<Seconds> fromUtc(const std::string& text);

}  // namespace jackpot::ctl::pki
