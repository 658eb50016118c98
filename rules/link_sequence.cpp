#include "rules/link_sequence.h"

#include <string>

#include "rules/state.h"

namespace jackpot::rules {

Result<void> addToSequence(State& state, const Command& command, std::uint64_t number,
                           std::uint64_t record)
{
    const std::string* const id = tableOf(command);
    const auto table = id ? state.findTable(*id) : std::nullopt;
    if (!table) return Error{"it has a number of a table that there is not"};
    LinkSequence& sequence = state.tables[*table].sequence;
    if (number != sequence.expected())
        return Error{"it is number " + std::to_string(number) + " of table " + *id + ", after " +
                     std::to_string(sequence.last())};
    sequence.add(record);
    return {};
}

}  // namespace jackpot::rules
