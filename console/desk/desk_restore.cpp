// The restore lock. The daemon is locked because tables hold receipts for records that its journal
// lacks. An administrator and an inspector unlock it, in either order, by accepting the same loss.
#include "console/desk/desk_api.h"
#include "console/desk/desk_json.h"
#include "console/desk/request_parameters.h"
#include "console/people/person_name.h"

namespace jackpot::console {

using storage::JsonText;

Reply DeskApi::lock(const Request& /*request*/)
{
    const std::scoped_lock deciding{decisionMutex_};
    const Controller::Lock lock = orThrowUnavailable(controller_.lock());
    return jsonReply(200, [&](JsonText& json) {
        json.boolField("locked", !lock.why.empty());
        json.numberField("records", static_cast<std::int64_t>(lock.records));
        if (lock.why.empty()) return;
        json.textField("why", lock.why);
        json.numberField("size", static_cast<std::int64_t>(lock.size));
        json.textField("root", lock.root);
        json.key("tables");
        json.beginArray();
        for (const std::string& table : lock.tables) json.text(table);
        json.endArray();
        if (firstAcceptance_ && firstAcceptance_->body.root == lock.root)
            json.textField("agreed", firstAcceptance_->person.name);
    });
}

Reply DeskApi::acceptRestore(const Request& request)
{
    const RestoreRequest body = orThrowBadBody(readRestore(request.body));
    const std::scoped_lock deciding{decisionMutex_};
    const Controller::Lock lock = orThrowUnavailable(controller_.lock());
    if (lock.why.empty()) throwHttpError(409, "not_locked", "the daemon is not locked");
    if (body.size != static_cast<std::int64_t>(lock.size) || body.root != lock.root)
        throwHttpError(
            409, "not_what_was_shown",
            "this is not the newest receipt that tables have shown; read the lock again");
    if (firstAcceptance_ && (now() - firstAcceptance_->at >= settings_.proposalLifetime.count() ||
                             !firstAcceptance_->body.namesSameHistory(body)))
        firstAcceptance_.reset();

    const bool isFirst =
        !firstAcceptance_ || samePerson(firstAcceptance_->person.name, request.person.name);
    if (!isFirst && firstAcceptance_->person.role == request.person.role)
        throwHttpError(403, "not_for_you",
                       "an administrator and an inspector must both accept; you have the same role "
                       "as the first person");
    (void)orThrowUnavailable(controller_.appendEvent("restore_agreed", [&](JsonText& json) {
        json.textField("by", request.person.name);
        json.textField("role", idOf(request.person.role));
        json.textField("reason", body.reason);
        json.numberField("size", body.size);
        json.textField("root", body.root);
    }));
    if (isFirst) {
        firstAcceptance_ = FirstAcceptance{request.person, body, now()};
        return jsonReply(202, [&](JsonText& json) {
            json.boolField("accepted", false);
            json.textField("agreed", request.person.name);
        });
    }
    const std::uint64_t record = orThrowUnavailable(
        controller_.acceptRestore({lock.size,
                                   lock.root,
                                   {firstAcceptance_->person.name, request.person.name},
                                   firstAcceptance_->body.reason}));
    firstAcceptance_.reset();
    return jsonReply(200, [&](JsonText& json) {
        json.boolField("accepted", true);
        json.numberField("record", static_cast<std::int64_t>(record));
    });
}

}  // namespace jackpot::console
