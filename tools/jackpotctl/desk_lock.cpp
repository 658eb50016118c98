// jackpotctl lock and accept-restore.
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::ctl {
namespace {

struct RestoreOptions : DeskOptions {
    std::uint64_t size = 0;
    std::string root;
    std::string reason;
};

void showLock(DeskClient& desk, const DeskOptions& /*options*/)
{
    desk.show(desk.get("/api/v1/lock"));
}

void acceptRestore(DeskClient& desk, const RestoreOptions& options)
{
    const auto answer =
        desk.post("/api/v1/lock/accept-restore", jsonObject([&](storage::JsonText& json) {
                      json.numberField("size", static_cast<std::int64_t>(options.size));
                      json.textField("root", options.root);
                      json.textField("reason", options.reason);
                  }));
    if (desk.wantsJson()) return desk.show(answer);
    if (storage::flagAt(answer, "accepted"))
        printLine("accepted, as record " + cellOf(answer, "record") + ": the daemon decides again");
    else
        printLine("agreed by " + cellOf(answer, "agreed") +
                  ": an administrator and an inspector must agree, so one more is needed");
}

}  // namespace

void addLockCommands(cli::Command& program)
{
    auto lock = std::make_shared<DeskOptions>();
    cli::Command& show =
        program.add("lock", "print whether the daemon is locked, and the receipt that locked it",
                    kTwoPeopleHeading);
    show.describe(
        "A table with a receipt for a record that is not in the journal locks the daemon: the "
        "journal was rolled back, or restored from a backup that is behind. The size and the root "
        "are of the newest such receipt; the tables are those that have shown one.");
    runAtDesk(show, lock, showLock);

    auto restore = std::make_shared<RestoreOptions>();
    cli::Command& accept =
        program.add("accept-restore", "accept that records were lost with a restored journal",
                    kTwoPeopleHeading);
    accept
        .describe(
            "The records that the daemon had acknowledged after the backup was made are lost: "
            "rounds, awards, payments. Look for a newer copy first, and wait until all tables have "
            "connected: a table that connects later with another receipt locks the daemon "
            "again.\n\nAn administrator and an inspector each run this command with the size and "
            "the root that jackpotctl lock prints. When both have, the acceptance is journaled and "
            "the daemon decides again. The tables then send the commands that are still in their "
            "outboxes, and an alarm lists the lost commands of each table. docs/backup.md "
            "describes "
            "the steps.")
        .number("--size SIZE", restore->size, kAnyNumber, "as jackpotctl lock prints it")
        .required()
        .option("--root ROOT", restore->root, "as jackpotctl lock prints it")
        .required()
        .option("--reason TEXT", restore->reason, "the reason")
        .required();
    runAtDesk(accept, restore, acceptRestore);
}

}  // namespace jackpot::ctl
