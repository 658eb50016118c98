// A demo floor: the table's side of some tables, for dealers in a browser. Each has a link of its
// own to this daemon's listener, with the table's certificate and an outbox, as any controller has:
// what a dealer does goes the way of every wager, and nothing here decides anything.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "console/desk/demo_dealers.h"
#include "jackpotd/log.h"

namespace jackpot {

class DemoFloor final : public console::DemoDealers {
public:
    // `config` has a demo floor; `port` is the listener's. The log outlives it.
    static Result<std::unique_ptr<DemoFloor>> open(const config::Config& config, std::uint16_t port,
                                                   const Log& log);
    ~DemoFloor() override;

    console::Reply readTable(const std::string& table) override;
    console::Reply perform(const std::string& table, const console::DealerAction& action) override;

private:
    class Table;
    explicit DemoFloor(std::vector<std::string> names);

    const std::vector<std::string> names_;  // in the order of the configuration
    std::map<std::string, std::unique_ptr<Table>> tables_;
};

}  // namespace jackpot
