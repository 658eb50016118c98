#include "console/worker_pools.h"

#include <openssl/crypto.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace jackpot::console {
namespace {

// Tables come first. A password is hashed when nobody else wants the processor.
constexpr int kQuickNiceness = 5;
constexpr int kPasswordNiceness = 19;

}  // namespace

WorkerPools::WorkerPools(Done done, Say warn) : done_{std::move(done)}, warn_{std::move(warn)}
{
    for (int i = 0; i < kQuickThreads; ++i)
        threads_.emplace_back([this] { run(WorkerPool::Quick); });
    threads_.emplace_back([this] { run(WorkerPool::Monitoring); });
    for (int i = 0; i < kPasswordThreads; ++i)
        threads_.emplace_back([this] { run(WorkerPool::Passwords); });
}

bool WorkerPools::put(std::uint64_t connection, const Route& route, Request request)
{
    {
        const std::scoped_lock lock{mutex_};
        Queue& queue = queueOf(route.lane);
        if (route.lane == WorkerPool::Passwords) {
            const auto theirs = std::ranges::count_if(queue.waiting, [&](const Job& job) {
                return job.request.address == request.address;
            });
            if (queue.waiting.size() >= kMaxWaiting ||
                theirs >= static_cast<std::ptrdiff_t>(kMaxWaitingOfAddress))
                return false;
        }
        queue.waiting.push_back({connection, &route, std::move(request)});
    }
    changed_.notify_all();
    return true;
}

void WorkerPools::stop()
{
    {
        const std::scoped_lock lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_all();
    threads_.clear();
}

void WorkerPools::run(WorkerPool lane)
{
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()),
                  lane == WorkerPool::Passwords ? kPasswordNiceness : kQuickNiceness);
    Queue& queue = queueOf(lane);
    std::unique_lock lock{mutex_};
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || !queue.waiting.empty(); });
        if (stopping_) return;
        auto next = std::ranges::find_if(queue.waiting, [&](const Job& job) {
            return job.request.address != queue.lastAddress;
        });
        if (next == queue.waiting.end()) next = queue.waiting.begin();
        Job job = std::move(*next);
        queue.waiting.erase(next);
        queue.lastAddress = job.request.address;
        lock.unlock();
        Reply reply = handle(job);
        if (lane == WorkerPool::Passwords)
            OPENSSL_cleanse(job.request.body.data(), job.request.body.size());
        done_(job.connection, std::move(reply));
        lock.lock();
    }
}

Reply WorkerPools::handle(Job& job) const
{
    try {
        return job.route->handle(job.request);
    } catch (const std::exception& fault) {
        warn_("the desk: " + std::string{job.route->method} + " " +
              std::string{job.route->pattern} + ": " + fault.what());
        return refusal(500, "fault", "a fault of the program itself");
    }
}

}  // namespace jackpot::console
