// A desk with a real journal in a scratch directory: a controller that a mutex serializes, a clock
// that tests set, and the search index.
#pragma once

#include <rapidjson/document.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "console/desk/desk_api.h"
#include "storage/journal.h"
#include "tests/support/scratch.h"

namespace jackpot::console {

inline const Person kAnn{"Ann", Role::Supervisor};
inline const Person kBob{"bob", Role::Supervisor};
inline const Person kEye{"eye 4", Role::Surveillance};
inline const Person kIvy{"Ivy", Role::Inspector};
inline const Person kRoot{"root", Role::Administrator};
inline const Person kAudrey{"Audrey", Role::Auditor};

struct Answer {
    int status = 0;
    std::string body;
    std::string contentType;
    std::shared_ptr<rapidjson::Document> json;

    // "awards/0/amount"; "" if it is missing. Numbers and flags as text.
    [[nodiscard]] std::string at(const std::string& path) const;
    [[nodiscard]] std::size_t count(const std::string& path) const;
    [[nodiscard]] std::string code() const { return at("error/code"); }
};

class DeskFixture {
public:
    // Pool B7 with tables T1 to T4, pool UTH with table U1.
    DeskFixture();
    ~DeskFixture();

    // --- the floor
    rules::Outcome give(const rules::Command& command);
    // The same, as a table's controller gives it over the link.
    rules::Outcome giveOverLink(const rules::Command& command, std::uint64_t number);
    void wait(rules::TimeMs ms);
    // A round with a jackpot of three suited sevens (or all, in diamonds) on each of the seats,
    // each of the player "p-T1-2" (table and seat).
    void claim(const std::string& table, std::int64_t round, const std::vector<int>& seats,
               bool diamonds = false);
    void confirm(const std::string& table, std::int64_t round, std::int64_t pressedAgoMs = 0);
    std::uint64_t note(const std::string& kind, const EventFields& fields);

    // --- the desk; what no server would let through fails the test
    Answer get(const std::string& target, const Person& person = kAudrey);
    Answer post(const std::string& target, const std::string& body, const Person& person);
    // Approves the proposal that the answer shows.
    Answer approve(const Answer& proposed, const Person& person);
    // Proposes as Ann, approves as bob; the answer is that of the approval.
    Answer postByTwo(const std::string& target, const std::string& body);

    // --- the journal
    std::uint64_t size();
    rules::State state();
    std::vector<std::string> payloads();
    std::string last();
    void closeSegment();
    // Restarts the daemon; `between` is called while no process has the files open.
    void restart(const std::function<void()>& between = {});
    void stopBook();
    void startBook(std::size_t page = 500);
    // Verified as an auditor does it.
    void verify();

    Controller controller();
    [[nodiscard]] const std::filesystem::path& path() const { return scratch_.path(); }
    SearchIndex& book() { return *book_; }
    DeskApi& desk() { return *desk_; }

    ChangeSignal changes;  // notified after each commit
    rules::TimeMs now;
    DeskSettings settings;
    // Called after a command of the desk is decided or an event is appended, before the reply.
    std::function<void(const std::string& what)> afterwards;

private:
    void openJournal(bool create);
    void startDesk();
    void settleDue();

    ScratchDirectory scratch_;
    std::recursive_mutex turn_;
    std::optional<storage::Journal> journal_;
    std::unique_ptr<SearchIndex> book_;
    std::unique_ptr<DeskApi> desk_;
    std::vector<Route> routes_;
};

// The results of all searches, for comparing one search index with another.
std::string everything(const SearchIndex& book);

}  // namespace jackpot::console
