#pragma once

#include <cstdint>
#include <vector>

namespace jackpot::floorsim {

// A histogram of latencies. Quantiles are exact to one hundredth.
class Latencies {
public:
    void add(std::int64_t ns);
    void clear() { *this = {}; }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] double quantileUs(double quantile) const;
    [[nodiscard]] double maxUs() const { return static_cast<double>(maxNs_) / 1000; }

private:
    static constexpr std::size_t kSubBits = 6;
    std::vector<std::uint32_t> buckets_ = std::vector<std::uint32_t>(64U << kSubBits);
    std::uint64_t count_ = 0;
    std::int64_t maxNs_ = 0;
};

}  // namespace jackpot::floorsim
