// The threads on which handlers run: a few for what is quick, one for those who watch, two for what
// hashes a password. Those two are bounded in what may wait for them, in all and of one address,
// and take addresses in turn, so that a guessing run delays itself and not a person elsewhere who
// signs in.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "console/route.h"

namespace jackpot::console {

class WorkerPools {
public:
    static constexpr int kQuickThreads = 4;
    static constexpr int kPasswordThreads = 2;
    static constexpr std::size_t kMaxWaiting = 64;
    static constexpr std::size_t kMaxWaitingOfAddress = 4;

    // From one of its threads.
    using Done = std::function<void(std::uint64_t connection, Reply reply)>;
    using Say = std::function<void(const std::string& warning)>;
    WorkerPools(Done done, Say warn);
    WorkerPools(const WorkerPools&) = delete;
    WorkerPools& operator=(const WorkerPools&) = delete;
    ~WorkerPools() { stop(); }

    // Any thread. False where there is no room.
    bool put(std::uint64_t connection, const Route& route, Request request);
    // Takes no more and waits for what has begun.
    void stop();

private:
    struct Job {
        std::uint64_t connection = 0;
        const Route* route = nullptr;
        Request request;
    };
    struct Queue {
        std::deque<Job> waiting;
        std::string lastAddress;
    };
    Queue& queueOf(WorkerPool lane)
    {
        return lane == WorkerPool::Passwords    ? passwords_
               : lane == WorkerPool::Monitoring ? monitoring_
                                                : quick_;
    }
    void run(WorkerPool lane);
    Reply handle(Job& job) const;

    Done done_;
    Say warn_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
    Queue quick_;
    Queue monitoring_;
    Queue passwords_;
    std::vector<std::jthread> threads_;
};

}  // namespace jackpot::console
