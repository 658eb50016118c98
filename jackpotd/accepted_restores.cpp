#include "jackpotd/accepted_restores.h"

#include <fcntl.h>
#include <rapidjson/document.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "storage/backup.h"
#include "storage/journal.h"
#include "storage/json_read.h"

namespace jackpot {
namespace {

using storage::kAcceptedRestoresName;
constexpr int kMostRecords = 1000;

}  // namespace

AcceptedRestores::AcceptedRestores(std::filesystem::path journalDirectory)
    : directory_{std::move(journalDirectory)}
{
    std::ifstream file{directory_ / kAcceptedRestoresName};
    int count = 0;
    for (std::uint64_t record = 0; count < kMostRecords && file >> record; ++count) read(record);
}

bool AcceptedRestores::covers(const storage::Checkpoint& receipt) const
{
    const auto [begin, end] = receipts_.equal_range(receipt.size);
    return std::any_of(begin, end, [&](const auto& each) { return each.second == receipt.root; });
}

// What the file says is not believed, only where to look: any other record accepts nothing.
void AcceptedRestores::read(std::uint64_t record)
{
    for (const auto& file : storage::filesOf(directory_)) {
        storage::JournalReader reader{file};
        const auto payload = record < reader.firstSeq() ? std::nullopt : reader.payload(record);
        if (!payload) continue;
        rapidjson::Document json;
        json.Parse<rapidjson::kParseIterativeFlag>(payload->data(), payload->size());
        try {
            if (json.HasParseError() || storage::textAt(json, "kind") != kKind) return;
            for (const auto& each : storage::arrayAt(json, "receipts").GetArray())
                if (const auto root = storage::Hash::fromBase64(storage::textAt(each, "root")))
                    receipts_.emplace(static_cast<std::uint64_t>(storage::numberAt(each, "size")),
                                      *root);
        } catch (const storage::BadJson&) {
            return;
        }
    }
}

Result<void> AcceptedRestores::add(std::uint64_t record)
{
    read(record);
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
