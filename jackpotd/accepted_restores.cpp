#include "jackpotd/accepted_restores.h"

#include <fcntl.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "jackpotd/committed_records.h"
#include "storage/backup.h"
#include "storage/journal.h"
#include "storage/json_read.h"

namespace jackpot {
namespace {

using storage::kAcceptedRestoresName;
constexpr int kMaxRecords = 1000;

}  // namespace

Result<void> AcceptedRestores::load()
{
    std::ifstream file{directory_ / kAcceptedRestoresName};
    int count = 0;
    for (std::uint64_t record = 0; count < kMaxRecords && file >> record; ++count)
        if (auto done = read(record); !done) return done;
    return {};
}

bool AcceptedRestores::covers(const storage::Checkpoint& receipt) const
{
    const auto [begin, end] = receipts_.equal_range(receipt.size);
    return std::any_of(begin, end, [&](const auto& each) { return each.second == receipt.root; });
}

// The file is not trusted: a record of another kind, or one that the journal does not have, accepts
// nothing.
Result<void> AcceptedRestores::read(std::uint64_t record)
{
    const auto found = readCommittedRecord(directory_, record);
    if (!found) return found.error();
    if (!*found) return {};
    const std::string& payload = (*found)->payload;
    const auto event = storage::readRecord(payload);
    if (!event || event->head.kind != kKind) return {};
    rapidjson::Document json;
    json.Parse<rapidjson::kParseIterativeFlag>(payload.data(), payload.size());
    try {
        for (const auto& each : storage::arrayAt(json, "receipts").GetArray())
            if (const auto root = storage::Hash::fromBase64(storage::textAt(each, "root")))
                receipts_.emplace(static_cast<std::uint64_t>(storage::numberAt(each, "size")),
                                  *root);
    } catch (const storage::BadJson&) {
        return {};
    }
    return {};
}

Result<void> AcceptedRestores::add(std::uint64_t record, const ShownReceipts& receipts)
{
    for (const auto& [table, receipt] : receipts) receipts_.emplace(receipt.size, receipt.root);
    const std::filesystem::path path = directory_ / kAcceptedRestoresName;
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
    const std::string line = std::to_string(record) + "\n";
    const bool written =
        file >= 0 && ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
        ::fsync(file) == 0;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (!written) return Error{path.string() + ": " + std::generic_category().message(error)};
    if (const auto synced = storage::syncDirectory(directory_); !synced)
        return Error{inWords(synced.error())};
    return {};
}

void AcceptedRestores::write(storage::JsonText& json, const ShownReceipts& shown)
{
    const storage::Checkpoint& largest = largestOf(shown);
    json.numberField("size", static_cast<std::int64_t>(largest.size));
    json.textField("root", largest.root.base64());
    json.key("receipts");
    json.beginArray();
    for (const auto& [table, receipt] : shown) {
        json.beginObject();
        json.textField("table", table);
        json.numberField("size", static_cast<std::int64_t>(receipt.size));
        json.textField("root", receipt.root.base64());
        json.endObject();
    }
    json.endArray();
}

const storage::Checkpoint& largestOf(const ShownReceipts& shown)
{
    return std::ranges::max_element(shown, {}, [](const auto& each) { return each.second.size; })
        ->second;
}

}  // namespace jackpot
