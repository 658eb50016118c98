// Reading an export back.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "audit/signers.h"
#include "base/encoding.h"
#include "storage/journal_file.h"
#include "storage/merkle.h"
#include "storage/record.h"
#include "tools/cli/command_error.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/progress.h"
#include "tools/jackpot-audit/export.h"

namespace jackpot::auditor {

using namespace audit;

namespace {

using storage::Hash;
namespace fs = std::filesystem;

// A record of the largest size with every byte escaped, and its proof.
constexpr std::size_t kMaxRowBytes = 7 * storage::kMaxRecordBytes;
constexpr std::size_t kMaxProofHashes = 63;  // the height of the tallest tree
constexpr std::size_t kColumns = 9;

// Rows with their line ends. In CSV a line end within quotes ends no row.
class RowReader {
public:
    RowReader(const fs::path& file, ExportForm form)
        : form_{form}, descriptor_{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)}
    {
        if (descriptor_ < 0) cannotRead();
    }
    RowReader(const RowReader&) = delete;
    RowReader& operator=(const RowReader&) = delete;
    ~RowReader()
    {
        if (descriptor_ >= 0) ::close(descriptor_);
    }

    // The next row, which lives until the next call; nothing at the end of the file.
    std::optional<std::string_view> next()
    {
        std::size_t scanned = begin_;
        quoted_ = false;
        while (true) {
            const std::size_t end = endOfRow(scanned);
            if (end != std::string::npos) {
                const std::string_view row =
                    std::string_view{buffer_}.substr(begin_, end + 1 - begin_);
                begin_ = end + 1;
                ++number_;
                return row;
            }
            if (buffer_.size() - begin_ > kMaxRowBytes)
                throw AuditError{DoesNotVerify, "the row is longer than any row of an export"};
            buffer_.erase(0, begin_);
            begin_ = 0;
            scanned = buffer_.size();
            if (!fill()) break;
        }
        if (buffer_.empty()) return std::nullopt;
        ++number_;
        throw AuditError{DoesNotVerify, "the file ends within a row: it was cut off"};
    }

    [[nodiscard]] std::uint64_t number() const { return number_; }

private:
    std::size_t endOfRow(std::size_t from)
    {
        if (form_ == ExportForm::Jsonl) return buffer_.find('\n', from);
        for (; from < buffer_.size(); ++from) {
            if (buffer_[from] == '"') quoted_ = !quoted_;
            if (buffer_[from] == '\n' && !quoted_) return from;
        }
        return std::string::npos;
    }

    bool fill()
    {
        constexpr std::size_t kChunk = 1U << 18U;
        const std::size_t had = buffer_.size();
        buffer_.resize(had + kChunk);
        ssize_t got = -1;
        do {
            got = ::read(descriptor_, buffer_.data() + had, kChunk);
        } while (got < 0 && errno == EINTR);
        if (got < 0) cannotRead();
        buffer_.resize(had + static_cast<std::size_t>(got));
        return got > 0;
    }

    [[noreturn]] void cannotRead() const
    {
        throw cli::CommandError{cli::kBadInput, "it cannot be read: " + systemError(errno)};
    }

    ExportForm form_;
    int descriptor_;
    std::string buffer_;
    std::size_t begin_ = 0;
    bool quoted_ = false;
    std::uint64_t number_ = 0;
};

// Takes the next field of RFC 4180 off the row; what is not written so does not compare equal
// later.
std::string takeField(std::string_view& row)
{
    std::string field;
    while (row.starts_with('"')) {
        row.remove_prefix(1);
        const auto quote = std::min(row.find('"'), row.size());
        field += row.substr(0, quote);
        row.remove_prefix(std::min(quote + 1, row.size()));
        if (row.starts_with('"')) field += '"';
    }
    const auto end = std::min(row.find(','), row.size());
    field += row.substr(0, end);
    row.remove_prefix(end);
    return field;
}

std::vector<std::string> csvFields(std::string_view row)
{
    if (row.ends_with('\n')) row.remove_suffix(1);
    if (row.ends_with('\r')) row.remove_suffix(1);
    std::vector<std::string> fields{takeField(row)};
    while (row.starts_with(',')) {
        row.remove_prefix(1);
        fields.push_back(takeField(row));
    }
    if (fields.size() != kColumns)
        throw AuditError{DoesNotVerify, "the row has " + std::to_string(fields.size()) +
                                            " fields instead of " + std::to_string(kColumns)};
    return fields;
}

struct Row {
    std::uint64_t seq = 0;
    std::string payload;
    std::vector<std::string> proof;
};

void split(std::string_view text, std::string_view between, std::vector<std::string>& parts)
{
    std::size_t count = 0;
    while (!text.empty()) {
        const auto end = std::min(text.find(between), text.size());
        if (parts.size() == count) parts.emplace_back();
        parts[count++] = text.substr(0, end);
        text.remove_prefix(std::min(end + between.size(), text.size()));
    }
    parts.resize(count);
}

std::uint64_t seqIn(std::string_view text)
{
    const auto seq = parseDecimal(text);
    if (!seq) throw AuditError{DoesNotVerify, "its record number is " + seq.error().message};
    return *seq;
}

void readCsvRow(std::string_view text, Row& row)
{
    auto fields = csvFields(text);
    row.seq = seqIn(fields[0]);
    row.payload = std::move(fields[7]);
    split(fields[8], " ", row.proof);
}

// The journal's JSON escapes quote and backslash so, and all else by its number.
void unescape(std::string_view text, std::string& out)
{
    out.clear();
    while (true) {
        const auto escape = std::min(text.find('\\'), text.size());
        out += text.substr(0, escape);
        text.remove_prefix(escape);
        if (text.size() < 2) return;
        if (text[1] != 'u') {
            out += text[1];
            text.remove_prefix(2);
            continue;
        }
        const auto code = decodeHex(text.substr(std::min<std::size_t>(4, text.size()), 2));
        if (code) out += *code;
        text.remove_prefix(std::min<std::size_t>(6, text.size()));
    }
}

// A row has one form. The caller writes the row again and compares, which detects any other form;
// so the row is split at fixed places, three times as fast as by a JSON parser.
void readJsonRow(std::string_view text, Row& row)
{
    constexpr std::string_view kBegin = "{\"seq\":";
    constexpr std::string_view kRecord = ",\"record\":\"";
    constexpr std::string_view kProof = "\",\"proof\":[";
    constexpr std::string_view kEnd = "]}\n";
    const auto record = text.find(kRecord);
    const auto proof = text.rfind(kProof);
    if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || proof == std::string_view::npos ||
        record >= proof || record + kRecord.size() > proof)
        throw AuditError{DoesNotVerify, "the row is not as an export writes it"};
    row.seq = seqIn(text.substr(kBegin.size(), record - kBegin.size()));
    unescape(text.substr(record + kRecord.size(), proof - record - kRecord.size()), row.payload);
    std::string_view hashes = text.substr(proof + kProof.size());
    hashes.remove_suffix(kEnd.size());
    if (hashes.starts_with('"')) hashes.remove_prefix(1);
    if (hashes.ends_with('"')) hashes.remove_suffix(1);
    split(hashes, "\",\"", row.proof);
}

// Records of one block of 256 share the upper part of their proofs: it is checked once, and the
// others need only lead to the block's root.
class InclusionCheck {
public:
    explicit InclusionCheck(const storage::Checkpoint& checkpoint) : checkpoint_{checkpoint} {}

    void check(std::uint64_t seq, std::string_view payload, const std::vector<std::string>& proof)
    {
        if (proof.size() > kMaxProofHashes)
            throw AuditError{DoesNotVerify, "its proof is longer than any"};
        const std::uint64_t block = seq / kBlock;
        const Hash leaf = storage::leafHash(payload);
        const bool known = block_ == block && proof.size() == texts_.size() &&
                           std::equal(proof.begin() + kLevel, proof.end(), texts_.begin() + kLevel);
        hashes_.resize(proof.size());
        for (std::size_t i = 0; i < (known ? kLevel : proof.size()); ++i) {
            const auto hash = Hash::fromBase64(proof[i]);
            if (!hash) throw AuditError{DoesNotVerify, "its proof: " + hash.error().message};
            hashes_[i] = *hash;
        }
        const auto included =
            known
                ? storage::verifyInclusion(seq % kBlock, kBlock, leaf,
                                           std::span{hashes_}.first(kLevel), blockRoot_)
                : storage::verifyInclusion(seq, checkpoint_.size, leaf, hashes_, checkpoint_.root);
        if (!included)
            throw AuditError{DoesNotVerify,
                             "it is not the record that was signed, or this is not its proof (" +
                                 included.error().message + ")"};
        if (known || block >= checkpoint_.size / kBlock) return;
        block_ = block;
        texts_ = proof;
        blockRoot_ = leaf;
        for (unsigned level = 0; level < kLevel; ++level)
            blockRoot_ = (seq >> level & 1U) != 0 ? nodeHash(hashes_[level], blockRoot_)
                                                  : nodeHash(blockRoot_, hashes_[level]);
    }

private:
    static constexpr unsigned kLevel = storage::kNodeLevel;
    static constexpr std::uint64_t kBlock = std::uint64_t{1} << kLevel;

    const storage::Checkpoint& checkpoint_;
    std::optional<std::uint64_t> block_;  // whose root was proved
    std::vector<std::string> texts_;
    std::vector<Hash> hashes_;
    Hash blockRoot_;
};

storage::Checkpoint openSigned(const ExportHeader& header,
                               const std::vector<storage::Verifier>& keys)
{
    const auto note = storage::Note::parse(header.note);
    if (!note) throw AuditError{DoesNotVerify, "the checkpoint: " + note.error().message};
    if (signersOf(*note) != header.keys)
        throw AuditError{DoesNotVerify, "the header names other keys than those that signed"};
    const storage::Verifier* key = signerAmong(keys, *note);
    if (key == nullptr)
        throw AuditError{DoesNotVerify, "the checkpoint: " + notSignedBy(keys, *note)};
    auto checkpoint = openCheckpoint(*note, *key);
    if (!checkpoint)
        throw AuditError{DoesNotVerify, "the checkpoint: " + checkpoint.error().message};
    return std::move(*checkpoint);
}

// Checks the extent that the header states, without the journal.
void checkExtent(const CheckedExport& checked, std::uint64_t count)
{
    const ExportHeader& header = checked.header;
    if (count != header.records)
        throw AuditError{DoesNotVerify, "it has " + std::to_string(count) +
                                            " records, its header says " +
                                            std::to_string(header.records)};
    if (!header.selection.byTimeAlone()) return;
    const Period& period = header.selection.period;
    const auto missing = [](std::uint64_t seq) {
        return AuditError{DoesNotVerify, "record " + std::to_string(seq) +
                                             " is missing: the selection is by time alone and must "
                                             "have it"};
    };
    if (!checked.firstSeq) {
        if (!period.hasFrom && !period.hasTo) throw missing(header.first);
        return;
    }
    if (!period.hasFrom && *checked.firstSeq != header.first) throw missing(header.first);
    if (!period.hasTo && checked.lastSeq + 1 != checked.checkpoint.size)
        throw missing(checked.checkpoint.size - 1);
}

class Check {
public:
    Check(const fs::path& file, ExportForm form, const std::vector<storage::Verifier>& keys)
        : form_{form}, rows_{file, form}
    {
        checked_.header = readBegin();
        checked_.checkpoint = openSigned(checked_.header, keys);
    }

    CheckedExport run()
    {
        InclusionCheck inclusion{checked_.checkpoint};
        cli::Progress progress{"verifying"};
        std::uint64_t count = 0;
        Row row;
        while (const auto text = nextRow()) {
            if (form_ == ExportForm::Csv)
                readCsvRow(*text, row);
            else
                readJsonRow(*text, row);
            checkPlace(row.seq, count);
            inclusion.check(row.seq, row.payload, row.proof);
            checkContent(row, *text);
            ++count;
            if (count % 1000 == 0) {
                cli::throwIfInterrupted();
                progress.show(std::min(count, checked_.header.records), checked_.header.records);
            }
        }
        checkExtent(checked_, count);
        return std::move(checked_);
    }

    // "line 17 (record 15)"
    [[nodiscard]] std::string place() const
    {
        return "line " + std::to_string(rows_.number()) +
               (seq_ ? " (record " + std::to_string(*seq_) + ")" : "");
    }

private:
    ExportHeader readBegin()
    {
        const auto row = [this] {
            const auto found = rows_.next();
            if (!found) throw AuditError{DoesNotVerify, "the header is missing"};
            return std::string{*found};
        };
        std::string begin = row();
        std::string object = begin.substr(0, begin.size() - 1);
        if (form_ == ExportForm::Csv) {
            const std::string checkpoint = row();
            begin += checkpoint;
            object = csvFields(checkpoint)[7];
        }
        ExportHeader header = readHeader(object);
        if (exportBegin(form_, header) != begin)
            throw AuditError{DoesNotVerify, "the header is not as an export writes it"};
        return header;
    }

    std::optional<std::string_view> nextRow()
    {
        seq_.reset();
        return rows_.next();
    }

    void checkPlace(std::uint64_t seq, std::uint64_t count)
    {
        seq_ = seq;
        if (count == 0) checked_.firstSeq = seq;
        if (count > 0 && seq <= checked_.lastSeq)
            throw AuditError{DoesNotVerify, "it comes after record " +
                                                std::to_string(checked_.lastSeq) +
                                                ": each record comes once, in order"};
        if (count > 0 && checked_.header.selection.byTimeAlone() && seq != checked_.lastSeq + 1)
            throw AuditError{DoesNotVerify, "record " + std::to_string(checked_.lastSeq + 1) +
                                                " is missing before it: the selection is by time "
                                                "alone and must have it"};
        if (seq < checked_.header.first)
            throw AuditError{DoesNotVerify,
                             "the header says that the files given begin at record " +
                                 std::to_string(checked_.header.first)};
        checked_.lastSeq = seq;
    }

    void checkContent(const Row& row, std::string_view text)
    {
        record_.parse(row.seq, row.payload);
        if (!checked_.header.selection.contains(record_))
            throw AuditError{DoesNotVerify,
                             "the record is not of the selection that the header names"};
        rewritten_.clear();
        appendRow(form_, rewritten_, record_, row.payload, row.proof);
        if (rewritten_ != text)
            throw AuditError{
                DoesNotVerify,
                "the row is not as an export writes it: a column does not say what the "
                "record says, or its form was changed"};
        if (checked_.firstSeq == row.seq) checked_.firstMs = record_.timeMs();
        checked_.lastMs = record_.timeMs();
    }

    ExportForm form_;
    RowReader rows_;
    CheckedExport checked_;
    Payload record_;
    std::string rewritten_;
    std::optional<std::uint64_t> seq_;
};

}  // namespace

std::optional<ExportForm> exportFormOf(std::string_view beginning)
{
    if (beginning.starts_with(kJsonlBegin)) return ExportForm::Jsonl;
    // A changed header still counts as an export: the checks then report what was changed.
    if (beginning.starts_with('{')) return ExportForm::Jsonl;
    if (beginning.starts_with(kCsvColumns) || beginning.starts_with("seq,")) return ExportForm::Csv;
    return std::nullopt;
}

CheckedExport checkExport(const fs::path& file, ExportForm form,
                          const std::vector<storage::Verifier>& keys)
{
    std::optional<Check> check;
    try {
        return check.emplace(file, form, keys).run();
    } catch (const cli::CommandError& error) {
        throw cli::CommandError{error.status(), file.string() + ": " + error.what()};
    } catch (const AuditError& error) {
        throw AuditError{DoesNotVerify, file.string() + ", " + (check ? check->place() : "line 1") +
                                            ": " + error.what()};
    }
}

}  // namespace jackpot::auditor
