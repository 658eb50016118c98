#include <algorithm>

#include "config/identifiers.h"
#include "config/sections.h"

namespace jackpot::config {

void readDemo(TomlSection section, const std::filesystem::path& base, Config& config)
{
    if (!section.isThere()) return;
    constexpr std::size_t kMaxDemoTables = 20;  // each is a thread
    DemoConfig& demo = config.demo.emplace();
    for (const Value::Item& item : section.required("tables").texts(kMaxDemoTables)) {
        if (std::ranges::find(demo.tables, item.text) != demo.tables.end())
            section.errorAt(item.place, "tables", inQuotes(item.text) + " is there twice");
        else if (std::ranges::find(config.site.tables, item.text, &rules::TableConfig::id) ==
                 config.site.tables.end())
            section.errorAt(item.place, "tables", "there is no table " + inQuotes(item.text));
        demo.tables.push_back(item.text);
    }
    const Value pki = section["pki"];
    demo.pki = pki.isThere() ? pki.path(base) : base / "pki";
    const Value outbox = section["outbox"];
    demo.outbox = outbox.isThere() ? outbox.path(base) : base / "outbox-dealer";
    if (!config.desk)
        section.error("tables", "dealers come to the desk in a browser: add the section [desk]");
    section.refuseUnknownKeys();
}

}  // namespace jackpot::config
