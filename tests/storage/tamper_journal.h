// Support of the tampering tests: journals with the same bytes in every run, their rows, functions
// that change them, and a count of the cases.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/journal.h"
#include "storage/verify.h"
#include "tests/support/scratch.h"

namespace jackpot::storage::tamper {

// The same letter gives the same key.
Signer signerOf(char letter, const std::string& name = "site");
Verifier verifierOf(char letter, const std::string& name = "site");
inline constexpr char kFirstKey = 'a';
inline constexpr char kSecondKey = 'b';  // takes over in the middle of original()
inline constexpr char kForeignKey = 'x';

// --- a floor at work -----------------------------------------------------------------------------

// Writes short records to a new journal, and commits in batches.
class Night {
public:
    Night(Journal& journal, std::uint64_t batch) : journal_{journal}, batch_{batch} {}

    // The site, then one of each kind of command, jackpots won alone and at the same time,
    // refusals, and a record that holds no command. Another variant has other amounts in records of
    // the same kinds.
    void everyKind(int variant);
    // Up to this many records.
    void quiet(std::uint64_t until);
    void commit();

    [[nodiscard]] rules::TimeMs now() const { return now_; }

private:
    void give(const rules::Command& command);
    void claim(const std::string& table, const std::string& suit);
    void afterEach();

    Journal& journal_;
    std::uint64_t batch_;
    std::uint64_t committed_ = 1;
    rules::TimeMs now_ = 1000;
    std::int64_t round_ = 0;
};

// --- what is stored ------------------------------------------------------------------------------

// All rows of one file. Keys are signed integers because tampering may write any value.
struct Contents {
    std::map<std::int64_t, std::string> payloads;
    std::map<std::int64_t, std::string> notes;
    std::map<std::int64_t, std::string> nodes;
    struct Snapshot {
        std::string state;
        std::string frontier;
        bool operator==(const Snapshot&) const = default;
    };
    std::map<std::int64_t, Snapshot> snapshots;
    std::map<std::int64_t, std::string> segments;
    std::vector<std::string> schema;

    bool operator==(const Contents&) const = default;

    [[nodiscard]] std::uint64_t end() const
    {
        return static_cast<std::uint64_t>(payloads.rbegin()->first) + 1;
    }
};

// By plain SQL. Throws SqliteFailure where a value is not of its column's type or a row is not
// found by its number.
Contents contentsOf(const std::filesystem::path& file);

// A new file with these rows.
void store(const Contents& contents, const std::filesystem::path& file);

// The number of a record, or of records, as the rows have it.
inline std::uint64_t seqOf(std::int64_t key) { return static_cast<std::uint64_t>(key); }

// The signers of the checkpoint of this size.
using Signing = std::function<std::vector<Signer*>(std::uint64_t size)>;

// What someone who holds the keys makes of changed payloads: tree nodes, the snapshots' trees and
// the checkpoints, of the same sizes as before, are made again. A snapshot's state stays.
Contents signedAnew(Contents contents, const Signing& signing);

// The key a signs up to its rotation, both sign that, then b.
Signing asOriginal(const Contents& contents);
Signing alwaysBy(char letter);

// The first record that has this text, from a record on.
std::uint64_t findRecord(const Contents& contents, std::string_view text, std::uint64_t from = 0);
// Replaces what is there exactly once; ends the test where it is not.
std::string replaced(std::string text, std::string_view what, std::string_view with);

// A payload with another number in its "seq".
std::string renumbered(std::string payload, std::uint64_t seq);

// The record of a change of keys.
std::string rotation(std::uint64_t seq, rules::TimeMs time, char from, char to, bool lost = false);

// --- the journal that most cases start from ------------------------------------------------------

inline constexpr std::uint64_t kRecords = 300;
// Of the changed files: so large that each snapshot lies in one piece.
inline constexpr std::size_t kTamperPageBytes = 16384;

struct Original {
    std::string bytes;  // of the file, which has no write-ahead log and no free pages
    Contents contents;
    Verified verified;
};

// Variants have the same shape, key and name, and other amounts.
const Original& original(int variant = 0);

// The record at which the tree shows that record `seq` was changed: that of the next checkpoint,
// the next stored node or the next snapshot, whichever comes first.
std::uint64_t shownBy(std::uint64_t seq, const Contents& contents = original().contents);

// --- verifying -----------------------------------------------------------------------------------

using Verdict = Result<Verified, Fault>;

// With the first key, on one thread, so that the fault of a case is always the same.
VerifyOptions everything();
// The same, and compares with an earlier checkpoint or receipt.
VerifyOptions since(const std::string& note, VerifyOptions options = everything());
VerifyOptions withoutSignatures();
VerifyOptions withoutOutcomes();
VerifyOptions treeOnly();

// A file to tamper with, and back again.
class Specimen {
public:
    Specimen(std::filesystem::path file, std::string bytes);
    explicit Specimen(const std::filesystem::path& file, const Original& from = original())
        : Specimen{file, from.bytes}
    {}

    [[nodiscard]] const std::filesystem::path& file() const { return file_; }
    void restore() const;
    // On a connection to which nothing is forbidden.
    void edit(const std::string& sql) const;
    void edit(const std::function<void(Database&)>& work) const;
    [[nodiscard]] Verdict verify(const VerifyOptions& options = everything()) const;
    [[nodiscard]] Contents contents() const { return contentsOf(file_); }

private:
    std::filesystem::path file_;
    std::string bytes_;
};

// --- counting ------------------------------------------------------------------------------------

// The cases of one kind of tampering. Says at the end how many there were and how they ended, and
// fails where one ended as it must not, or where there are more or fewer than expected.
class Family {
public:
    explicit Family(std::string name) : name_{std::move(name)} {}
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;
    ~Family();

    // Found, at a record that `isRight` accepts (none: the file as a whole).
    using At = std::function<bool(std::optional<std::uint64_t> seq)>;
    using Which = std::function<std::string()>;
    void mustDetect(const Verdict& verdict, const At& isRight, const Which& which);
    // What the verifier lets through must be a journal that says the same.
    void mustDetectOr(bool unchanged, const Verdict& verdict, const At& isRight,
                      const Which& which);
    // What cannot be seen, or not with these options.
    void mustPass(const Verdict& verdict, const Which& which);

    [[nodiscard]] std::uint64_t tried() const { return tried_; }
    [[nodiscard]] std::uint64_t detected() const { return detected_; }
    [[nodiscard]] std::uint64_t unchanged() const { return unchanged_; }

    // Ends the count.
    void expect(std::uint64_t cases);

private:
    void wrong(const Which& which, const std::string& what);

    std::string name_;
    std::uint64_t tried_ = 0;
    std::uint64_t detected_ = 0;
    std::uint64_t unchanged_ = 0;
    std::uint64_t passed_ = 0;
    std::uint64_t wrong_ = 0;
    std::vector<std::string> firstWrong_;
    bool ended_ = false;
};

// Where it may be named.
Family::At anywhere();
Family::At between(std::uint64_t first, std::uint64_t last);
Family::At wholeFile();
Family::At oneOf(std::vector<std::optional<std::uint64_t>> seqs);

std::string inWords(const Verdict& verdict);

}  // namespace jackpot::storage::tamper
