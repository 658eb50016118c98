#include "tools/floorsim/latencies.h"

#include <algorithm>
#include <bit>

namespace jackpot::floorsim {

void Latencies::add(std::int64_t ns)
{
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 1));
    const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
    const std::size_t sub =
        power < kSubBits ? 0 : (value >> (power - kSubBits)) & ((1U << kSubBits) - 1);
    ++buckets_[(power << kSubBits) + sub];
    ++count_;
    maxNs_ = std::max(maxNs_, ns);
}

double Latencies::quantileUs(double quantile) const
{
    const auto wanted = static_cast<std::uint64_t>(quantile * static_cast<double>(count_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
        seen += buckets_[i];
        if (seen <= wanted || buckets_[i] == 0) continue;
        const double low = static_cast<double>(std::uint64_t{1} << (i >> kSubBits));
        const double part =
            static_cast<double>(i & ((1U << kSubBits) - 1)) / static_cast<double>(1U << kSubBits);
        return low * (1 + part) / 1000;
    }
    return maxUs();
}

}  // namespace jackpot::floorsim
