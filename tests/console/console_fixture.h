// A desk without a daemon: people in a directory that vanishes, a journal that is a list, and a
// clock that is set.
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

namespace jackpot::console::testing {

class House {
public:
    explicit House(SessionSettings settings = {});
    House(const House&) = delete;
    House& operator=(const House&) = delete;
    ~House();

    // {"kind":"person_added",...} each.
    std::vector<std::string> notes() const;
    std::vector<std::string> notes(const std::string& kind) const;
    void failNotes(bool fail);
    void pass(std::int64_t ms);
    void reopen();
    // With the password "NAME's password".
    void add(const std::string& name, Role role, bool mustChange = false);
    [[nodiscard]] static std::string passwordOf(const std::string& name);

    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }
    Controller controller;
    std::unique_ptr<Sessions> sessions;
    std::unique_ptr<People> people;
    std::unique_ptr<SearchIndex> book;  // of no journal
    std::unique_ptr<DeskApi> desk;
    Monitoring monitoring;  // all is well
    std::vector<std::string> warnings() const;

private:
    std::filesystem::path directory_;
    mutable std::mutex mutex_;
    std::vector<std::string> notes_;
    std::vector<std::string> warnings_;
    bool failNotes_ = false;
    std::int64_t now_ = 1'000'000;
};

}  // namespace jackpot::console::testing
