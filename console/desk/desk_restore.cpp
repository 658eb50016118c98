// A daemon that is locked because its journal is behind what tables have seen, and the two people
// who accept that: an administrator and an inspector, in either order, who say the same.
#include "console/desk/desk_api.h"
#include "console/desk/desk_json.h"
#include "console/desk/request_parameters.h"
#include "console/people/person_name.h"

namespace jackpot::console {

using storage::JsonText;

Reply Desk::lock(const Request& /*request*/)
{
    const std::scoped_lock deciding{deciding_};
    const Controller::Lock lock = orUnavailable(controller_.lock());
    return replyWith(200, [&](JsonText& json) {
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
        if (agreed_ && agreed_->body.root == lock.root)
            json.textField("agreed", agreed_->person.name);
    });
}

Reply Desk::acceptRestore(const Request& request)
{
    const RestoreBody body = orBadBody(readRestore(request.body));
    const std::scoped_lock deciding{deciding_};
    const Controller::Lock lock = orUnavailable(controller_.lock());
    if (lock.why.empty()) answer(409, "not_locked", "nothing is locked");
    if (body.size != static_cast<std::int64_t>(lock.size) || body.root != lock.root)
        answer(409, "not_what_was_shown",
               "this is not the newest receipt that tables have shown: look again");
    if (agreed_ &&
        (now() - agreed_->at >= settings_.proposalLife.count() || !agreed_->body.isOfSame(body)))
        agreed_.reset();

    const bool isFirst = !agreed_ || samePerson(agreed_->person.name, request.person.name);
    if (!isFirst && agreed_->person.role == request.person.role)
        answer(403, "not_for_you", "it takes an administrator and an inspector");
    (void)orUnavailable(controller_.note("restore_agreed", [&](JsonText& json) {
        json.textField("by", request.person.name);
        json.textField("role", idOf(request.person.role));
        json.textField("reason", body.reason);
        json.numberField("size", body.size);
        json.textField("root", body.root);
    }));
    if (isFirst) {
        agreed_ = Agreed{request.person, body, now()};
        return replyWith(202, [&](JsonText& json) {
            json.boolField("accepted", false);
            json.textField("agreed", request.person.name);
        });
    }
    const std::uint64_t record = orUnavailable(controller_.acceptRestore(
        {lock.size, lock.root, {agreed_->person.name, request.person.name}, agreed_->body.reason}));
    agreed_.reset();
    return replyWith(200, [&](JsonText& json) {
        json.boolField("accepted", true);
        json.numberField("record", static_cast<std::int64_t>(record));
    });
}

}  // namespace jackpot::console
