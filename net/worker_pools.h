// The threads on which handlers run. The queue of CPU-bound requests is limited, in total and by
// client address. Each pool serves addresses in turn, so password guessing from one address does
// not delay logins from others.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/route.h"

namespace jackpot::net {

class WorkerPools {
public:
    // A lower priority than that of the threads that serve tables.
    static constexpr int kNiceness = 5;
    static constexpr int kQuickThreads = 4;
    static constexpr int kCpuBoundThreads = 2;
    static constexpr std::size_t kMaxWaiting = 64;
    static constexpr std::size_t kMaxWaitingPerAddress = 4;

    // Both are called by the pools' threads.
    using OnReply = std::function<void(std::uint64_t connection, Reply reply)>;
    using LogWarning = std::function<void(const std::string& text)>;
    WorkerPools(OnReply onReply, LogWarning logWarning);
    WorkerPools(const WorkerPools&) = delete;
    WorkerPools& operator=(const WorkerPools&) = delete;
    ~WorkerPools() { stop(); }

    // Any thread. False if the queue is full. The route outlives the pools. A handler that throws
    // is logged and answered with 500.
    bool enqueue(std::uint64_t connection, const Route& route, Handler handle, Request request);
    // Discards waiting requests and waits for running handlers.
    void stop();

private:
    struct Job {
        std::uint64_t connection = 0;
        const Route* route = nullptr;
        Handler handle;
        Request request;
    };
    struct Queue {
        std::deque<Job> waiting;
        std::string lastAddress;
    };
    Queue& queueOf(WorkerPool pool)
    {
        return pool == WorkerPool::CpuBound     ? cpuBound_
               : pool == WorkerPool::Monitoring ? monitoring_
                                                : quick_;
    }
    void run(WorkerPool pool);
    Reply handle(Job job) const;

    OnReply onReply_;
    LogWarning logWarning_;
    std::mutex mutex_;
    std::condition_variable changed_;
    bool stopping_ = false;
    Queue quick_;
    Queue monitoring_;
    Queue cpuBound_;
    std::vector<std::jthread> threads_;
};

}  // namespace jackpot::net
