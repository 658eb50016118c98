// Delivers notices to the people whom the rules name: to a program that the casino chooses, and to
// the system log. Each delivery, successful or not, is an event in the journal. So a restart
// neither loses nor repeats a notice, and an auditor sees that the inspector was informed
// (UTH 11.11).
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
    // A program with its arguments, run without a shell. It gets the notice as a JSON object on its
    // standard input, an environment with PATH only and no other open files. Exit status 0 means
    // delivered. Empty: no program.
    std::vector<std::string> command;
    bool syslog = false;
    std::chrono::milliseconds programTimeout{10'000};  // then it is killed with all its children
    std::size_t maxParallel = 4;
    int maxAttempts = 5;
    std::chrono::milliseconds retryDelay{60'000};
    // Older notices are not delivered: they are from a time without a notifier.
    std::chrono::milliseconds maxAge = std::chrono::hours{24};
    std::chrono::milliseconds minInterval{250};  // between two looks at the search index
    std::function<rules::TimeMs()> now;          // default: the wall clock
};

// Has its own thread. Borrows the search index and the signal that the index notifies. Without a
// program and without syslog it does nothing; notices are then shown on their page only.
class Notifier {
public:
    Notifier(NotifierSettings settings, Controller controller, const SearchIndex& index,
             ChangeSignal& changes);
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;
    ~Notifier();

private:
    struct DeliveryAttempts {
        int count = 0;
        std::chrono::steady_clock::time_point nextAt;
    };
    void run(const std::stop_token& stop);
    // Returns when to try again, unless the index changes before.
    std::chrono::steady_clock::time_point deliverPending(const std::stop_token& stop);
    std::vector<bool> runPrograms(const std::vector<NoticeRow>& notices,
                                  const std::stop_token& stop);
    void record(const NoticeRow& notice, bool delivered);

    NotifierSettings settings_;
    Controller controller_;
    const SearchIndex& index_;
    ChangeSignal& changes_;
    std::map<std::string, DeliveryAttempts> attempts_;
    std::jthread thread_;
};

}  // namespace jackpot::console
