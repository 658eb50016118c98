// The writer's bounded queue: any thread puts items, one thread takes all that wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

namespace jackpot {

template <class T>
class Mailbox {
public:
    explicit Mailbox(std::size_t capacity) : capacity_{capacity} { waiting_.reserve(capacity); }

    // False, and the item stays, if the mailbox is full or closed.
    bool put(T& item)
    {
        bool wake = false;
        {
            const std::scoped_lock lock{mutex_};
            if (closed_ || waiting_.size() >= capacity_) return false;
            waiting_.push_back(std::move(item));
            wake = isAwaited();
        }
        if (wake) changed_.notify_one();
        return true;
    }

    // Puts as many items as there is room for, from the front; returns their number.
    template <class From>
    std::size_t putMany(std::vector<From>& items)
    {
        std::size_t taken = 0;
        bool wake = false;
        {
            const std::scoped_lock lock{mutex_};
            if (closed_) return 0;
            while (taken < items.size() && waiting_.size() < capacity_)
                waiting_.emplace_back(std::move(items[taken++]));
            wake = isAwaited();
        }
        if (wake) changed_.notify_one();
        return taken;
    }

    // Swaps all waiting items into `taken`, which is empty. If none waits, waits until `until`;
    // with fewer than `enough`, waits up to `timeout` for more.
    void takeAll(std::vector<T>& taken, std::chrono::steady_clock::time_point until,
                 std::size_t enough, std::chrono::microseconds timeout)
    {
        std::unique_lock lock{mutex_};
        waitFor(lock, 1, until);
        if (!waiting_.empty() && waiting_.size() < enough)
            waitFor(lock, enough, std::chrono::steady_clock::now() + timeout);
        taken.swap(waiting_);
    }

    // From here on nothing can be put; waiting items can still be taken.
    void close()
    {
        {
            const std::scoped_lock lock{mutex_};
            closed_ = true;
        }
        changed_.notify_one();
    }
    // Ends the wait in takeAll() although nothing was put.
    void wake()
    {
        {
            const std::scoped_lock lock{mutex_};
            woken_ = true;
        }
        changed_.notify_one();
    }
    [[nodiscard]] bool isEmptyAndOpen() const
    {
        const std::scoped_lock lock{mutex_};
        return waiting_.empty() && !closed_;
    }
    [[nodiscard]] std::size_t size() const
    {
        const std::scoped_lock lock{mutex_};
        return waiting_.size();
    }
    [[nodiscard]] bool isClosed() const
    {
        const std::scoped_lock lock{mutex_};
        return closed_;
    }

private:
    void waitFor(std::unique_lock<std::mutex>& lock, std::size_t count,
                 std::chrono::steady_clock::time_point until)
    {
        awaited_ = count;
        changed_.wait_until(lock, until,
                            [&] { return closed_ || woken_ || waiting_.size() >= count; });
        awaited_ = kNothing;
        woken_ = false;
    }
    // True once when the taker has as many items as it waits for.
    bool isAwaited()
    {
        if (waiting_.size() < awaited_) return false;
        awaited_ = kNothing;
        return true;
    }
    static constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();

    std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<T> waiting_;
    std::size_t awaited_ = kNothing;
    bool woken_ = false;
    bool closed_ = false;
};

}  // namespace jackpot
