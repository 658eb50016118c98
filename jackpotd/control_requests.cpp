#include "jackpotd/control_requests.h"

#include <rapidjson/document.h>

#include <sstream>

#include "console/people/people.h"
#include "console/people/people_requests.h"
#include "storage/command_json.h"

namespace jackpot {
namespace {

std::string refused(const std::string& reason) { return "refused\n" + reason + "\n"; }

std::string answered(const Result<console::People::Account, console::PeopleError>& account)
{
    if (!account) return refused(account.error().message);
    return "ok\n" + account->name + ", " + std::string{idOf(account->role)} +
           (account->disabled ? ", disabled" : "") + "\n";
}

}  // namespace

std::string ControlRequests::answer(const std::string& request)
{
    constexpr std::string_view kChangePool = "change-pool ";
    if (request.starts_with(kChangePool)) return changePool(request.substr(kChangePool.size()));
    if (request.starts_with("user-")) return changePeople(request);
    if (request == "reload") return reload_.run();
    if (request == "status") return status();
    if (request == "meters") return "ok\n" + displays_.inJson() + "\n";
    return refused("there is no request \"" + request.substr(0, 40) + "\"");
}

std::string ControlRequests::status() const
{
    const auto& link = link_.counters();
    const WriterMetrics& writer = writer_.metrics();
    std::ostringstream out;
    out << "ok\nconnections " << link.connections << "\ncommands " << writer.commands()
        << "\ncommits " << sumOf(writer.batch.counts()) << "\nrecords " << writer.records.value()
        << "\nwaiting " << writer_.waiting() << "\nrepeated " << writer.repeated.value()
        << "\nrejected " << sumOf(writer.rejected) << "\nfailed_reads "
        << writer.failedReads.value() << "\nalarms " << sumOf(writer.alarms) << "\nstrangers "
        << link.rejected << "\nbad_frames " << link.badFrames << "\nstalls " << link.stalls << "\n";
    if (desk_) {
        const auto& desk = desk_->server().counters();
        out << "desk_connections " << desk.connections << "\ndesk_feeds " << desk.feeds
            << "\ndesk_requests " << desk.requests << "\ndesk_refused " << desk.rejectedRequests
            << "\ndesk_turned_away " << desk.rejected << "\ndesk_too_slow " << desk.timedOut
            << "\n";
    }
    return out.str();
}

std::string ControlRequests::changePool(const std::string& text)
{
    rapidjson::Document json;
    json.Parse<rapidjson::kParseIterativeFlag>(text.data(), text.size());
    if (json.HasParseError()) return refused("it is not well-formed JSON");
    auto command = storage::readCommand("pool_change_agreed", json);
    if (!command) return refused(command.error().message);
    const auto outcome = awaitAnswer(writer_.submit(std::move(*command)));
    if (!outcome) return refused(outcome.error().message);
    if (!outcome->refusal) return "ok\nagreed: it takes effect when the pool next resets\n";
    const std::string rule{outcome->refusal->rule};
    return refused(outcome->refusal->detail + (rule.empty() ? "" : " (" + rule + ")"));
}

// user-add {...}, user-change NAME {...}, user-unlock NAME. The owner of the machine acts as an
// administrator, so that someone can sign in even if there is no account yet or all are locked.
std::string ControlRequests::changePeople(const std::string& request)
{
    if (!desk_) return refused("there is no desk: add the section [desk]");
    std::istringstream words{request};
    std::string verb;
    std::string name;
    std::string body;
    words >> verb;
    if (verb != "user-add") words >> name;
    std::getline(words >> std::ws, body);
    console::People& people = desk_->people();
    if (verb == "user-add") {
        const auto person = console::readNewPerson(body);
        if (!person) return refused(person.error().message);
        return answered(people.add(*person, console::People::kLocalActor));
    }
    if (verb == "user-change") {
        const auto change = console::readPersonChange(body);
        if (!change) return refused(change.error().message);
        return answered(people.change(name, *change, console::People::kLocalActor));
    }
    if (verb == "user-unlock") return answered(people.unlock(name, console::People::kLocalActor));
    return refused("there is no such request about people");
}

}  // namespace jackpot
