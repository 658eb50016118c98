// jackpotctl lock and accept-restore.
#include "storage/json_read.h"
#include "tools/jackpotctl/desk_arguments.h"
#include "tools/jackpotctl/desk_command.h"

namespace jackpot::tools {
namespace {

using audit::Arguments;
using Form = audit::Option::Form;

constexpr std::string_view kLockHelp =
    R"(jackpotctl lock - whether the daemon is locked, and by what

Usage:
  jackpotctl lock

A table that has a receipt for what is not in the journal locks the daemon: the journal was rolled back, or
restored from a backup that is behind. SIZE and ROOT are of the newest such receipt, TABLES have shown one.

Options:
)";

constexpr std::string_view kAcceptHelp =
    R"(jackpotctl accept-restore - go on with a restored journal, by an administrator and an inspector

Usage:
  jackpotctl accept-restore --size SIZE --root ROOT --reason TEXT

What the daemon had acknowledged after the backup was made is lost with it: rounds, awards, payments. Look for a
newer copy first, and wait until all tables have connected: one that comes later with another receipt locks the
daemon again. An administrator and an inspector then each say which history they give up, as jackpotctl lock
shows it. When both have, that is journaled and the daemon decides again; the tables send what is still in their
outboxes, and an alarm says for each which commands are lost. docs/backup.md has all of it.

Options:
  --size SIZE         as jackpotctl lock shows
  --root ROOT         the same
  --reason TEXT       why
)";

void lock(DeskClient& desk, const Arguments& /*arguments*/) { desk.show(desk.get("/api/v1/lock")); }

void acceptRestore(DeskClient& desk, const Arguments& arguments)
{
    const std::int64_t size = wholeNumber(arguments, "size", required(arguments, "--size"));
    const auto answer =
        desk.post("/api/v1/lock/accept-restore", jsonObject([&](storage::JsonText& json) {
                      json.numberField("size", size);
                      json.textField("root", required(arguments, "--root"));
                      json.textField("reason", required(arguments, "--reason"));
                  }));
    if (desk.wantsJson()) return desk.show(answer);
    if (storage::flagAt(answer, "accepted"))
        say("accepted, as record " + cellOf(answer, "record") + ": the daemon decides again");
    else
        say("agreed by " + cellOf(answer, "agreed") +
            ": an administrator and an inspector have to, so one more");
}

}  // namespace

std::vector<DeskCommand> lockCommands()
{
    constexpr std::string_view kNone = "no argument but its options";
    return {
        {"lock", kLockHelp, {}, 0, 0, kNone, lock, ""},
        {"accept-restore",
         kAcceptHelp,
         {{"--size", Form::Value}, {"--root", Form::Value}, kReasonOption},
         0,
         0,
         kNone,
         acceptRestore,
         ""},
    };
}

}  // namespace jackpot::tools
