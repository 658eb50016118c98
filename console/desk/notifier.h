// Brings notices to those whom the rules name: to a program of the house's choice, and to the
// system log. Each that was brought, or could not be, is a record of its own; so none is forgotten
// or brought again by a restart, and an auditor sees that the inspector was told (UTH 11.11).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "console/desk/controller.h"
#include "console/search/search_index.h"

namespace jackpot::console {

struct NotifierSettings {
    // A program with its arguments, run without a shell: the notice as a JSON object on its
    // standard input, an environment of PATH alone, no other files. It has told whom it should when
    // it exits with 0. Empty for none.
    std::vector<std::string> command;
    bool syslog = false;
    std::chrono::milliseconds timeLimit{10'000};  // then it is killed, with what it started
    std::size_t atOnce = 4;
    int tries = 5;
    std::chrono::milliseconds between{60'000};
    // What is older was of a time without a notifier.
    std::chrono::milliseconds notOlder = std::chrono::hours{24};
    std::chrono::milliseconds every{250};  // looks whether there is something new
    std::function<rules::TimeMs()> now;    // wall clock, unless given
};

// A thread of its own. Borrows the book. With neither program nor log it does nothing, and notices
// wait on their page.
class Notifier {
public:
    Notifier(NotifierSettings settings, Controller controller, const SearchIndex& book);
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;
    ~Notifier();

private:
    struct DeliveryAttempts {
        int times = 0;
        std::chrono::steady_clock::time_point next;
    };
    void run(const std::stop_token& stop);
    // Whether it was all there was to do.
    bool bring(const std::stop_token& stop);
    std::vector<bool> runAll(const std::vector<NoticeRow>& notices, const std::stop_token& stop);
    void record(const NoticeRow& notice, bool delivered);

    NotifierSettings settings_;
    Controller controller_;
    const SearchIndex& book_;
    std::map<std::string, DeliveryAttempts> tried_;
    std::jthread thread_;
};

}  // namespace jackpot::console
