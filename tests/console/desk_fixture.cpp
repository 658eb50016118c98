#include "tests/console/desk_fixture.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "rules/apply.h"
#include "rules/settle_due.h"
#include "storage/keys.h"
#include "storage/verify.h"
#include "tests/support/rules_fixture.h"

namespace jackpot::console {
namespace {

using storage::Journal;

const storage::PrivateKey& key()
{
    static const storage::PrivateKey made = storage::PrivateKey::generate();
    return made;
}

storage::Signer signer() { return storage::Signer::make("star.example/desk", key()).value(); }

rules::Site site()
{
    rules::Site site = rules::siteOf(rules::blazingPool(), 4);
    site.pools.push_back(rules::holdemPool());
    site.tables.push_back(rules::linkedTable("U1", "UTH"));
    return site;
}

std::vector<std::string> split(const std::string& text, char at)
{
    std::vector<std::string> parts{""};
    for (const char c : text)
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

const rapidjson::Value* find(const rapidjson::Document* json, const std::string& path)
{
    if (json == nullptr) return nullptr;
    const rapidjson::Value* value = json;
    for (const std::string& part : split(path, '/')) {
        if (value->IsObject() && value->HasMember(part.c_str())) {
            value = &(*value)[part.c_str()];
        } else if (value->IsArray() && !part.empty() && part.size() < 6 &&
                   part.find_first_not_of("0123456789") == std::string::npos &&
                   std::stoul(part) < value->Size()) {
            value = &(*value)[static_cast<rapidjson::SizeType>(std::stoul(part))];
        } else {
            return nullptr;
        }
    }
    return value;
}

// As the server matches it.
bool matches(std::string_view pattern, const std::string& path,
             std::map<std::string, std::string>& names)
{
    const auto wanted = split(std::string{pattern}, '/');
    const auto given = split(path, '/');
    if (wanted.size() != given.size()) return false;
    names.clear();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].starts_with('{'))
            names[wanted[i].substr(1, wanted[i].size() - 2)] = given[i];
        else if (wanted[i] != given[i])
            return false;
    }
    return true;
}

}  // namespace

std::string Answer::at(const std::string& path) const
{
    const rapidjson::Value* value = find(json.get(), path);
    if (value == nullptr) return "";
    if (value->IsString()) return value->GetString();
    if (value->IsInt64()) return std::to_string(value->GetInt64());
    if (value->IsBool()) return value->GetBool() ? "true" : "false";
    return "?";
}

std::size_t Answer::count(const std::string& path) const
{
    const rapidjson::Value* value = find(json.get(), path);
    return value != nullptr && value->IsArray() ? value->Size() : 0;
}

DeskFixture::DeskFixture() : now{1'767'225'600'000}
{
    openJournal(true);
    (void)give(rules::ConfigureSite{site()});
    settings.journal = path();
    settings.now = [this] { return now; };
    startBook();
}

DeskFixture::~DeskFixture()
{
    desk_.reset();
    book_.reset();
}

void DeskFixture::openJournal(bool create)
{
    const storage::JournalSettings wanted{path(), 20, {}};
    auto journal =
        create ? Journal::create(wanted, signer(), now) : Journal::open(wanted, signer(), now);
    if (!journal) FAIL(inWords(journal.error()));
    journal_.emplace(std::move(*journal));
}

Controller DeskFixture::controller()
{
    return {[this](rules::Command command) -> Result<rules::Outcome> {
                const std::scoped_lock turn{turn_};
                if (!journal_) return Error{"the daemon is shutting down"};
                const std::string kind{kindOf(command)};
                rules::Outcome outcome = give(command);
                if (afterwards) afterwards(kind);
                return outcome;
            },
            [this](const std::string& kind, const EventFields& fields) -> Result<std::uint64_t> {
                const std::scoped_lock turn{turn_};
                if (!journal_) return Error{"the daemon is shutting down"};
                const std::uint64_t seq = note(kind, fields);
                if (afterwards) afterwards(kind);
                return seq;
            },
            [this]() -> Result<std::shared_ptr<const rules::State>> {
                const std::scoped_lock turn{turn_};
                if (!journal_) return Error{"the daemon is shutting down"};
                return std::make_shared<const rules::State>(journal_->state());
            },
            []() -> Result<Controller::Lock> { return Controller::Lock{}; },
            [](const Controller::Acceptance&) -> Result<std::uint64_t> {
                return Error{"nothing is locked"};
            }};
}

void DeskFixture::settleDue()
{
    rules::settleDue(
        journal_->state(), now,
        [this](const rules::SettleDue& command, rules::TimeMs) { journal_->decide(command, now); });
}

rules::Outcome DeskFixture::give(const rules::Command& command)
{
    const std::scoped_lock turn{turn_};
    settleDue();
    rules::Outcome outcome = journal_->decide(command, now);
    REQUIRE(journal_->commit());
    changes.notify();
    return outcome;
}

rules::Outcome DeskFixture::giveOverLink(const rules::Command& command, std::uint64_t number)
{
    const std::scoped_lock turn{turn_};
    settleDue();
    rules::Outcome outcome = journal_->decide(command, now, storage::LinkOrigin{number, now});
    REQUIRE(journal_->commit());
    changes.notify();
    return outcome;
}

std::uint64_t DeskFixture::note(const std::string& kind, const EventFields& fields)
{
    const std::scoped_lock turn{turn_};
    const std::uint64_t seq = journal_->size();
    journal_->add(kind, now, fields);
    REQUIRE(journal_->commit());
    changes.notify();
    return seq;
}

void DeskFixture::wait(rules::TimeMs ms)
{
    const std::scoped_lock turn{turn_};
    now += ms;
    settleDue();
    REQUIRE(journal_->commit());
    changes.notify();
}

void DeskFixture::claim(const std::string& table, std::int64_t round, const std::vector<int>& seats,
                        bool diamonds)
{
    rules::OpenRound open{table, round, {}};
    rules::ReportResult result{table, round, {diamonds ? "7D" : "7H"}, {}};
    for (const int seat : seats) {
        open.wagers.push_back({seat, true, "p-" + table + "-" + std::to_string(seat), {}});
        const std::string card = diamonds ? "7D" : "7H";
        result.hands.push_back({seat, {card, card}});
    }
    REQUIRE_FALSE(give(open).refusal);
    const auto outcome = give(result);
    REQUIRE_FALSE(outcome.refusal);
    REQUIRE(outcome.claims.size() == seats.size());
}

void DeskFixture::confirm(const std::string& table, std::int64_t round, std::int64_t pressedAgoMs)
{
    REQUIRE_FALSE(give(rules::ConfirmJackpot{table, round, pressedAgoMs}).refusal);
}

Answer DeskFixture::get(const std::string& target, const Person& person)
{
    REQUIRE(book_->catchUp(std::chrono::seconds{20}));
    Request request;
    request.method = "GET";
    request.person = person;
    const std::size_t mark = std::min(target.find('?'), target.size());
    if (mark < target.size())
        for (const std::string& pair : split(target.substr(mark + 1), '&')) {
            const std::size_t equals = std::min(pair.find('='), pair.size());
            request.query[pair.substr(0, equals)] = pair.substr(std::min(equals + 1, pair.size()));
        }
    for (const Route& route : routes_)
        if (route.method == "GET" && matches(route.pattern, target.substr(0, mark), request.path)) {
            Reply reply = route.handle(request);
            Answer answer{reply.status, reply.body, reply.contentType,
                          std::make_shared<rapidjson::Document>()};
            answer.json->Parse(reply.body.data(), reply.body.size());
            if (reply.contentType == "application/json") CHECK_FALSE(answer.json->HasParseError());
            return answer;
        }
    FAIL("no route for ", target);
    return {};
}

Answer DeskFixture::post(const std::string& target, const std::string& body, const Person& person)
{
    Request request;
    request.method = "POST";
    request.person = person;
    request.body = body;
    for (const Route& route : routes_)
        if (route.method == "POST" && matches(route.pattern, target, request.path)) {
            if (route.access == Access::Roles &&
                std::ranges::find(route.roles, person.role) == route.roles.end())
                return {403, "", "", nullptr};
            Reply reply = route.handle(request);
            Answer answer{reply.status, reply.body, reply.contentType,
                          std::make_shared<rapidjson::Document>()};
            answer.json->Parse(reply.body.data(), reply.body.size());
            return answer;
        }
    FAIL("no route for ", target);
    return {};
}

Answer DeskFixture::approve(const Answer& proposed, const Person& person)
{
    return post("/api/v1/proposals/" + proposed.at("proposal") + "/approve",
                R"({"sha256":")" + proposed.at("sha256") + "\"}", person);
}

Answer DeskFixture::postByTwo(const std::string& target, const std::string& body)
{
    const Answer proposed = post(target, body, kAnn);
    CAPTURE(proposed.body);
    REQUIRE(proposed.status == 202);
    return approve(proposed, kBob);
}

std::uint64_t DeskFixture::size()
{
    const std::scoped_lock turn{turn_};
    return journal_->size();
}

rules::State DeskFixture::state()
{
    const std::scoped_lock turn{turn_};
    return journal_->state();
}

std::vector<std::string> DeskFixture::payloads()
{
    std::vector<std::string> found;
    for (const auto& file : storage::filesOf(path())) {
        auto reader = storage::orThrow(storage::JournalReader::open(file));
        storage::orThrow(reader.forEachPayload(reader.firstSeq(), storage::orThrow(reader.endSeq()),
                                               [&](std::uint64_t, std::string_view payload) {
                                                   found.emplace_back(payload);
                                                   return true;
                                               }));
    }
    return found;
}

std::string DeskFixture::last() { return payloads().back(); }

void DeskFixture::closeSegment()
{
    for (int i = 0; i < 1000; ++i) {
        {
            const std::scoped_lock turn{turn_};
            if (journal_->closeSegment(now)) return;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    FAIL("the segment could not be closed");
}

void DeskFixture::stopBook()
{
    desk_.reset();
    routes_.clear();
    book_.reset();
}

void DeskFixture::startBook(std::size_t page)
{
    book_ = std::make_unique<SearchIndex>(
        SearchIndex::Settings{path(), {}, std::chrono::milliseconds{20}, page}, changes);
    desk_ = std::make_unique<DeskApi>(settings, controller(), *book_);
    routes_ = desk_->routes();
}

void DeskFixture::restart(const std::function<void()>& between)
{
    stopBook();
    journal_.reset();
    if (between) between();
    openJournal(false);
    startBook();
}

void DeskFixture::verify()
{
    storage::VerifyOptions options;
    options.trusted.push_back(signer().verifier());
    const auto verified = storage::verify(storage::filesOf(path()), options);
    if (!verified) FAIL(inWords(verified.error()));
}

std::string everything(const SearchIndex& book)
{
    std::string text;
    const auto add = [&](const auto& value) {
        if constexpr (std::is_convertible_v<decltype(value), std::string>)
            text += std::string{value};
        else
            text += std::to_string(value);
        text += '|';
    };
    const auto addOptional = [&](const auto& value) { value ? add(*value) : add("-"); };
    std::optional<std::uint64_t> before;
    while (true) {
        RecordQuery query;
        query.before = before;
        query.limit = 7;
        const auto rows = storage::orThrow(book.records(query));
        if (rows.empty()) break;
        before = rows.back().seq;
        for (const RecordRow& r : rows) {
            add(r.seq), add(r.timeMs), add(r.kind), add(r.pool), add(r.table), addOptional(r.round);
            add(r.who), add(static_cast<int>(r.refused));
            for (const RecordRow& same : storage::orThrow(book.records({r.kind,
                                                                        r.pool,
                                                                        r.table,
                                                                        r.who,
                                                                        r.round,
                                                                        r.timeMs,
                                                                        r.timeMs + 1,
                                                                        {},
                                                                        {},
                                                                        500})))
                add(same.seq);
            text += '\n';
        }
    }
    for (const char* state : {"", "claimed", "locked", "held", "due", "final", "dropped"})
        for (const ClaimRow& c : storage::orThrow(book.claims({state, {}, {}, {}, {}, 500}))) {
            add(c.id), add(c.pool), add(c.table), add(c.round), add(c.seat), add(c.tier);
            add(c.state), add(c.board), add(c.cards), add(c.claimedSeq), add(c.claimedMs);
            add(c.changedSeq), addOptional(c.confirmedMs), addOptional(c.pressedMs);
            for (const AwardRow& a : storage::orThrow(book.awardsOf(c.table, c.round))) {
                add(a.seq), add(a.place), add(a.seat), add(a.tier), add(toExact(a.amount));
                add(a.rule), add(a.form), add(a.arithmetic), add(a.state), addOptional(a.stateSeq);
                add(a.player), add(toExact(a.paid)), add(a.payments), add(a.stateReason);
                for (const std::string& by : a.stateBy) add(by);
            }
            for (const PaymentRow& p : storage::orThrow(book.paymentsOf(c.table, c.round))) {
                add(p.seq), add(p.timeMs), add(p.seat), add(p.tier), add(toExact(p.paid));
                add(toExact(p.due)), add(toExact(p.sum)), add(static_cast<int>(p.rectification));
                add(p.how);
                for (const std::string& by : p.by) add(by);
            }
            for (const auto& e : storage::orThrow(book.earlierAmountsOf(c.table, c.round)))
                add(e.seq), add(e.seat), add(e.tier), add(toExact(e.amount)), add(e.withdrawnSeq);
            for (const RefundRow& r : storage::orThrow(book.refundsOf(c.table, c.round)))
                add(r.seq), add(r.timeMs), add(r.seat), add(toExact(r.amount));
            text += '\n';
        }
    NoticeQuery all;
    all.limit = 500;
    for (const NoticeRow& n : storage::orThrow(book.notices(all))) {
        add(n.id), add(n.timeMs), add(n.kind), add(n.rule), add(n.text), add(n.delivery);
        for (const std::string& to : n.to) add(to);
        add(n.acknowledgedBy), addOptional(n.acknowledgedMs), add(n.remark);
        text += '\n';
    }
    for (const ProposalRow& p : storage::orThrow(book.proposals({{}, {}, 500}))) {
        add(p.id), add(p.madeMs), add(p.expiresMs), add(p.by), add(p.reason), add(p.proposed);
        add(p.sha256), add(p.words), add(p.state), add(p.closedBy), add(p.remark);
        addOptional(p.closedSeq), addOptional(p.outcomeSeq);
        text += '\n';
    }
    for (const char* table : {"T1", "T2", "T3", "T4", "U1"})
        if (const auto s = storage::orThrow(book.suspensionOf(table)))
            add(s->seq), add(s->timeMs), add(s->ground), add(s->from), add(s->reason);
    for (const char* pool : {"B7", "UTH"})
        for (const AmountRow& a : storage::orThrow(book.amounts({pool, {}, {}, 500}))) {
            add(a.timeMs), add(a.seq), add(a.displayed.cents());
            add(a.before ? a.before->cents() : -1);
        }
    return text;
}

}  // namespace jackpot::console
