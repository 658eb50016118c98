// The console without a daemon: accounts in a scratch directory, a list instead of the journal, and
// a clock that tests set.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "console/desk/routes.h"
#include "console/people/people.h"
#include "console/people/sessions.h"
#include "tests/support/scratch.h"

namespace jackpot::console::testing {

class ConsoleFixture {
public:
    explicit ConsoleFixture(SessionSettings settings = {});
    ConsoleFixture(const ConsoleFixture&) = delete;
    ConsoleFixture& operator=(const ConsoleFixture&) = delete;
    ~ConsoleFixture();

    // {"kind":"person_added",...} each.
    std::vector<std::string> notes() const;
    std::vector<std::string> notes(const std::string& kind) const;
    void failNotes(bool fail);
    void pass(std::int64_t ms);
    void reopen();
    // With the password "NAME's password".
    void add(const std::string& name, Role role, bool mustChange = false);
    [[nodiscard]] static std::string passwordOf(const std::string& name);

    [[nodiscard]] const std::filesystem::path& directory() const { return scratch_.path(); }
    Controller controller;
    std::unique_ptr<Sessions> sessions;
    std::unique_ptr<People> people;
    ChangeSignal changes;
    std::unique_ptr<SearchIndex> book;  // of no journal
    std::unique_ptr<DeskApi> desk;
    Monitoring monitoring;  // all is well
    std::vector<std::string> warnings() const;

private:
    ScratchDirectory scratch_;
    mutable std::mutex mutex_;
    std::vector<std::string> notes_;
    std::vector<std::string> warnings_;
    bool failNotes_ = false;
    std::int64_t now_ = 1'000'000;
};

}  // namespace jackpot::console::testing
