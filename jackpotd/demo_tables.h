// The table side of the demo's tables, for dealers in a browser. Each has its own link to this
// daemon's listener, with the table's certificate and an outbox, like a real table controller: its
// commands take the same way, and nothing is decided here. Any thread.
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

class DemoTables final : public console::DemoDealers {
public:
    // `config` has a demo; `port` is the listener's. The log outlives it.
    static Result<std::unique_ptr<DemoTables>> open(const config::Config& config,
                                                    std::uint16_t port, const Log& log);
    ~DemoTables() override;

    console::Reply readTable(const std::string& table) override;
    console::Reply perform(const std::string& table, const console::DealerAction& action) override;

private:
    class Table;
    explicit DemoTables(std::vector<std::string> names);

    const std::vector<std::string> names_;  // in the order of the configuration
    std::map<std::string, std::unique_ptr<Table>> tables_;
};

}  // namespace jackpot
