// The bounded way to the writer: many put, one takes all that waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace jackpot {

template <class T>
class Mailbox {
public:
    explicit Mailbox(std::size_t capacity) : capacity_{capacity} { waiting_.reserve(capacity); }

    // False, and nothing is taken, where it is full or closed.
    bool put(T& item)
    {
        bool wake = false;
        {
            const std::scoped_lock lock{mutex_};
            if (closed_ || waiting_.size() >= capacity_) return false;
            waiting_.push_back(std::move(item));
            wake = std::exchange(asleep_, false);
        }
        if (wake) changed_.notify_one();
        return true;
    }

    // The same of many, from the front: how many were taken.
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
            wake = taken > 0 && std::exchange(asleep_, false);
        }
        if (wake) changed_.notify_one();
        return taken;
    }

    // Swaps all that waits into `taken`, which is empty; waits until then if nothing does.
    void takeAll(std::vector<T>& taken, std::chrono::steady_clock::time_point until)
    {
        std::unique_lock lock{mutex_};
        while (waiting_.empty() && !closed_) {
            asleep_ = true;
            if (changed_.wait_until(lock, until) == std::cv_status::timeout) break;
        }
        asleep_ = false;
        taken.swap(waiting_);
    }

    // Nothing is put any more; what waits can still be taken.
    void close()
    {
        {
            const std::scoped_lock lock{mutex_};
            closed_ = true;
        }
        changed_.notify_one();
    }
    [[nodiscard]] bool isClosed() const
    {
        const std::scoped_lock lock{mutex_};
        return closed_;
    }

private:
    std::size_t capacity_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<T> waiting_;
    bool asleep_ = false;
    bool closed_ = false;
};

}  // namespace jackpot
