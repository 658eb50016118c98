#include "net/worker_pools.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace jackpot::net {
namespace {

constexpr int kCpuBoundNiceness = 19;

}  // namespace

WorkerPools::WorkerPools(OnReply onReply, LogWarning logWarning)
    : onReply_{std::move(onReply)}, logWarning_{std::move(logWarning)}
{
    for (int i = 0; i < kQuickThreads; ++i)
        threads_.emplace_back([this] { run(WorkerPool::Quick); });
    threads_.emplace_back([this] { run(WorkerPool::Monitoring); });
    for (int i = 0; i < kCpuBoundThreads; ++i)
        threads_.emplace_back([this] { run(WorkerPool::CpuBound); });
}

bool WorkerPools::enqueue(std::uint64_t connection, const Route& route, Handler handle,
                          Request request)
{
    {
        const std::scoped_lock lock{mutex_};
        Queue& queue = queueOf(route.pool);
        if (route.pool == WorkerPool::CpuBound) {
            const auto ofAddress = std::ranges::count_if(queue.waiting, [&](const Job& job) {
                return job.request.address == request.address;
            });
            if (queue.waiting.size() >= kMaxWaiting ||
                ofAddress >= static_cast<std::ptrdiff_t>(kMaxWaitingPerAddress))
                return false;
        }
        queue.waiting.push_back({connection, &route, std::move(handle), std::move(request)});
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

void WorkerPools::run(WorkerPool pool)
{
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()),
                  pool == WorkerPool::CpuBound ? kCpuBoundNiceness : kNiceness);
    Queue& queue = queueOf(pool);
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
        const std::uint64_t connection = job.connection;
        onReply_(connection, handle(std::move(job)));
        lock.lock();
    }
}

Reply WorkerPools::handle(Job job) const
{
    try {
        return job.handle(std::move(job.request));
    } catch (const std::exception& fault) {
        logWarning_("http: the handler of " + std::string{job.route->method} + " " +
                    std::string{job.route->pattern} + " failed: " + fault.what());
        return errorReply(500, "fault", "an internal error of the server");
    }
}

}  // namespace jackpot::net
