#include "tools/jackpotctl/scenario.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>

namespace jackpot::ctl {
namespace {

using rules::Money;
using rules::Rate;
using Json = rapidjson::Value;

constexpr std::size_t kMaxErrors = 50;
// Some hundred thousand years in milliseconds: sums of two such times stay far inside 64 bits.
constexpr std::int64_t kMaxMs = 4'000'000'000'000'000;

std::string_view textOf(const Json& json) { return {json.GetString(), json.GetStringLength()}; }

// A value in the document, with the place it stands at as a JSON pointer. What is wrong is noted,
// and reading goes on, so that a user sees all of it at once.
class Node {
public:
    Node(const Json* json, std::string place, std::vector<std::string>& errors)
        : json_{json}, place_{std::move(place)}, errors_{&errors}
    {}

    [[nodiscard]] bool isThere() const { return json_ != nullptr; }
    [[nodiscard]] const std::string& place() const { return place_; }

    void error(const std::string& what) const
    {
        if (errors_->size() < kMaxErrors)
            errors_->push_back((place_.empty() ? "/" : place_) + ": " + what);
    }

    // An object with these keys and no others; a name that ends in "?" may be left out.
    [[nodiscard]] bool isObjectOf(std::initializer_list<std::string_view> keys) const
    {
        return isObjectOf(std::span{keys.begin(), keys.size()});
    }
    [[nodiscard]] bool isObjectOf(std::span<const std::string_view> keys) const
    {
        if (!json_ || !json_->IsObject()) {
            error("takes an object");
            return false;
        }
        const auto nameOf = [](std::string_view key) {
            return key.ends_with('?') ? key.substr(0, key.size() - 1) : key;
        };
        const std::size_t before = errors_->size();
        std::vector<std::string_view> seen;
        for (const auto& member : json_->GetObject()) {
            const std::string_view name = textOf(member.name);
            if (std::ranges::find(keys, name, nameOf) == keys.end())
                child(name).error("unknown key");
            else if (std::ranges::find(seen, name) != seen.end())
                child(name).error("the key is there twice");
            seen.push_back(name);
        }
        for (const std::string_view key : keys)
            if (!key.ends_with('?') && std::ranges::find(seen, key) == seen.end())
                error("the key \"" + std::string{key} + "\" is missing");
        return errors_->size() == before;
    }

    [[nodiscard]] Node operator[](std::string_view key) const
    {
        if (!json_ || !json_->IsObject())
            return {nullptr, place_ + "/" + std::string{key}, *errors_};
        const auto found = json_->FindMember(
            Json{rapidjson::StringRef(key.data(), static_cast<rapidjson::SizeType>(key.size()))});
        Node node = child(key);
        if (found != json_->MemberEnd()) node.json_ = &found->value;
        return node;
    }

    void forEach(const std::function<void(const Node&)>& visit) const
    {
        if (!json_ || !json_->IsArray()) {
            error("takes a list");
            return;
        }
        for (rapidjson::SizeType i = 0; i < json_->Size(); ++i)
            visit({&(*json_)[i], place_ + "/" + std::to_string(i), *errors_});
    }

    [[nodiscard]] std::string text() const
    {
        if (json_ && json_->IsString()) return std::string{textOf(*json_)};
        error("takes a string");
        return {};
    }
    [[nodiscard]] bool isInteger() const { return json_ && json_->IsInt64(); }
    [[nodiscard]] std::int64_t integer() const
    {
        if (isInteger()) return json_->GetInt64();
        error("takes a whole number");
        return 0;
    }
    [[nodiscard]] std::int64_t milliseconds(std::int64_t least) const
    {
        const std::int64_t ms = integer();
        if (ms >= least && ms <= kMaxMs) return ms;
        error("takes milliseconds from " + std::to_string(least) + " to " + std::to_string(kMaxMs));
        return 0;
    }
    [[nodiscard]] std::int64_t round() const
    {
        const std::int64_t number = integer();
        if (number < 1 || number > rules::kMaxRound)
            error("a round is between 1 and " + std::to_string(rules::kMaxRound));
        return number;
    }
    [[nodiscard]] bool boolean() const
    {
        if (json_ && json_->IsBool()) return json_->GetBool();
        error("takes true or false");
        return false;
    }
    [[nodiscard]] Money money() const { return parsed<Money>(rules::parseMoney); }
    [[nodiscard]] Money wholeCents() const
    {
        const Money amount = money();
        if (!amount.isWholeCents()) error("takes whole cents");
        return amount;
    }
    // One of the list that `find` knows.
    template <class Value>
    [[nodiscard]] Value oneOf(std::optional<Value> (*find)(std::string_view)) const
    {
        const std::string id = text();
        if (const auto value = find(id)) return *value;
        if (json_ && json_->IsString())
            error("\"" + id.substr(0, 64) + "\" is not one of its list");
        return Value{};
    }
    // A name or a list of names; nobody where it is left out.
    [[nodiscard]] rules::People people() const
    {
        if (!isThere()) return {};
        if (json_->IsString()) return {text()};
        return texts();
    }
    [[nodiscard]] Rate rate() const { return parsed<Rate>(rules::parseRate); }
    [[nodiscard]] std::vector<std::string> texts() const
    {
        std::vector<std::string> all;
        forEach([&all](const Node& each) { all.push_back(each.text()); });
        return all;
    }

private:
    [[nodiscard]] Node child(std::string_view key) const
    {
        std::string escaped;
        for (const char c : key.substr(0, 64)) {
            if (c == '~')
                escaped += "~0";
            else if (c == '/')
                escaped += "~1";
            else
                escaped +=
                    (c >= ' ' && c != '\x7f') || static_cast<unsigned char>(c) >= 0x80 ? c : '?';
        }
        return {nullptr, place_ + "/" + escaped, *errors_};
    }

    template <class T>
    [[nodiscard]] T parsed(Result<T> (*parse)(std::string_view)) const
    {
        if (!json_ || !json_->IsString()) {
            error("takes a decimal number as a string");
            return T{};
        }
        const Result<T> result = parse(textOf(*json_));
        if (result) return *result;
        error(result.error().message);
        return T{};
    }

    const Json* json_;
    std::string place_;
    std::vector<std::string>* errors_;
};

rules::TierAmounts readTierAmounts(const Node& node)
{
    rules::TierAmounts amounts;
    if (!node.isObjectOf({"royal_flush?", "straight_flush?"})) return amounts;
    if (const Node n = node["royal_flush"]; n.isThere()) amounts.royalFlush = n.money();
    if (const Node n = node["straight_flush"]; n.isThere()) amounts.straightFlush = n.money();
    return amounts;
}

void readParameters(const Node& node, rules::PoolParameters& pool)
{
    pool.increment = node["increment"].rate();
    pool.minimum = node["minimum"].money();
    if (const Node n = node["reserve_increment"]; n.isThere()) pool.reserveIncrement = n.rate();
    if (const Node n = node["cap"]; n.isThere()) pool.cap = n.money();
    if (const Node n = node["payout_unit"]; n.isThere()) pool.payoutUnit = n.money();
    if (const Node n = node["simultaneity_window_ms"]; n.isThere())
        pool.simultaneityWindowMs = n.integer();
    if (const Node n = node["settle_after_ms"]; n.isThere()) pool.settleAfterMs = n.integer();
    if (const Node n = node["bonus"]; n.isThere()) pool.bonus = readTierAmounts(n);
    if (const Node n = node["guarantee"]; n.isThere()) pool.guarantee = readTierAmounts(n);
}

rules::PoolConfig readPool(const Node& node)
{
    rules::PoolConfig pool;
    if (!node.isObjectOf({"id", "game", "wager", "increment", "minimum", "reserve_increment?",
                          "cap?", "opening?", "payout_unit?", "simultaneity_window_ms?",
                          "settle_after_ms?", "bonus?", "guarantee?"}))
        return pool;
    pool.id = node["id"].text();
    const std::string gameId = node["game"].text();
    if (const auto game = rules::gameOfId(gameId))
        pool.game = *game;
    else
        node["game"].error("takes \"blazing7s\" or \"uth\"");
    pool.wager = node["wager"].money();
    if (const Node n = node["opening"]; n.isThere()) pool.opening = n.money();
    readParameters(node, pool);
    return pool;
}

rules::TableConfig readTable(const Node& node)
{
    rules::TableConfig table;
    if (!node.isObjectOf({"id", "pool", "seats?", "require_player_card?", "wager?"})) return table;
    table.id = node["id"].text();
    table.pool = node["pool"].text();
    if (const Node n = node["seats"]; n.isThere()) table.seats = n.integer();
    if (const Node n = node["require_player_card"]; n.isThere())
        table.requirePlayerCard = n.boolean();
    if (const Node n = node["wager"]; n.isThere()) table.wager = n.money();
    return table;
}

rules::Site readSite(const Node& node)
{
    rules::Site site;
    node["pools"].forEach([&](const Node& each) { site.pools.push_back(readPool(each)); });
    node["tables"].forEach([&](const Node& each) { site.tables.push_back(readTable(each)); });
    return site;
}

std::string textOr(const Node& node) { return node.isThere() ? node.text() : std::string{}; }

rules::Wager readWager(const Node& node)
{
    rules::Wager wager;
    if (node.isInteger()) {
        wager.seat = node.integer();
        return wager;
    }
    if (!node.isObjectOf({"seat", "base_wager?", "player_card?", "approved_by?"})) return wager;
    wager.seat = node["seat"].integer();
    if (const Node n = node["base_wager"]; n.isThere()) wager.baseWager = n.boolean();
    wager.playerCard = textOr(node["player_card"]);
    wager.approvedBy = textOr(node["approved_by"]);
    return wager;
}

rules::Command readOpenRound(const Node& node)
{
    rules::OpenRound command{node["table"].text(), node["round"].round(), {}};
    node["wagers"].forEach([&](const Node& each) { command.wagers.push_back(readWager(each)); });
    return command;
}

rules::ReportResult readResult(const Node& node)
{
    rules::ReportResult result{node["table"].text(), node["round"].round(), {}, {}};
    node["hands"].forEach([&](const Node& each) {
        if (!each.isObjectOf({"seat", "cards"})) return;
        result.hands.push_back({each["seat"].integer(), each["cards"].texts()});
    });
    return result;
}

rules::Command readRuling(const Node& node)
{
    rules::RuleOnClaims ruling{node["pool"].text(), {}, node["by"].people()};
    node["order"].forEach([&](const Node& group) {
        auto& rounds = ruling.order.emplace_back();
        group.forEach([&](const Node& pair) {
            std::vector<Node> parts;
            pair.forEach([&](const Node& part) { parts.push_back(part); });
            if (parts.size() != 2) return pair.error("takes a table and a round: [\"BJ01\", 7]");
            rounds.push_back({parts[0].text(), parts[1].round()});
        });
    });
    return ruling;
}

rules::Command readConfirmation(const Node& node)
{
    rules::ConfirmJackpot command{node["table"].text(), node["round"].round(), 0};
    if (const Node n = node["pressed_ago_ms"]; n.isThere())
        command.pressedAgoMs = n.milliseconds(0);
    return command;
}

rules::Command readVoidRound(const Node& node)
{
    rules::VoidRound command{node["table"].text(),
                             node["round"].round(),
                             node["ground"].oneOf(rules::voidRoundGroundOfId),
                             {},
                             textOr(node["reason"]),
                             node["by"].people()};
    if (const Node n = node["forfeited"]; n.isThere()) {
        n.forEach([&](const Node& seat) { command.forfeited.push_back(seat.integer()); });
        if (command.ground != rules::VoidRoundGround::Invalidated)
            n.error("only with the ground \"invalidated\" (BJ 18.10, UTH 13.10)");
    }
    return command;
}

rules::Command readVoidWager(const Node& node)
{
    return rules::VoidWager{
        node["table"].text(),   node["round"].round(),
        node["seat"].integer(), node["ground"].oneOf(rules::voidWagerGroundOfId),
        textOr(node["reason"]), node["by"].people()};
}

rules::Origin readOrigin(const Node& node)
{
    return node.isThere() ? node.oneOf(rules::originOfId) : rules::Origin::Table;
}

rules::Command readSuspension(const Node& node)
{
    return rules::SuspendTable{
        node["table"].text(), node["ground"].oneOf(rules::suspensionGroundOfId),
        readOrigin(node["from"]), textOr(node["reason"]), node["by"].people()};
}

rules::Command readResumption(const Node& node)
{
    return rules::ResumeTable{node["table"].text(), readOrigin(node["from"]),
                              textOr(node["reason"]), node["by"].people()};
}

template <class T>
rules::Command readLinkCommand(const Node& node)
{
    return T{node["table"].text()};
}

template <class T>
rules::Command readPoolCommand(const Node& node)
{
    return T{node["pool"].text(), textOr(node["reason"]), {}};
}

rules::Command readAdjustment(const Node& node)
{
    return rules::AdjustPool{node["pool"].text(), node["amount"].wholeCents(),
                             textOr(node["reason"]), node["by"].people()};
}

// No award has a tier that does not exist: the rules refuse it.
rules::AwardRef readAward(const Node& node)
{
    rules::AwardRef award{node["table"].text(), node["round"].round(), node["seat"].integer(), {}};
    if (const Node n = node["tier"]; n.isThere())
        award.tier = rules::tierOfId(n.text()).value_or(rules::Tier::None);
    return award;
}

rules::Command readPayment(const Node& node)
{
    return rules::RecordPayment{readAward(node), !node["tier"].isThere(), node["paid"].wholeCents(),
                                textOr(node["how"]), node["by"].people()};
}

template <class T>
rules::Command readAwardCommand(const Node& node)
{
    return T{readAward(node), textOr(node["reason"]), node["by"].people()};
}

rules::Command readChange(const Node& node)
{
    rules::ChangePool command{node["pool"].text(), {}, textOr(node["reason"]), node["by"].people()};
    const Node to = node["to"];
    if (to.isObjectOf({"increment", "minimum", "reserve_increment?", "cap?", "payout_unit?",
                       "simultaneity_window_ms?", "settle_after_ms?", "bonus?", "guarantee?"}))
        readParameters(to, command.to);
    return command;
}

struct EventType {
    std::vector<std::string_view> keys;
    std::function<rules::Command(const Node&)> read;
};

const std::map<std::string, EventType, std::less<>>& eventTypes()
{
    static const std::map<std::string, EventType, std::less<>> types{
        {"round_opened", {{"at_ms", "type", "table", "round", "wagers"}, readOpenRound}},
        {"round_result",
         {{"at_ms", "type", "table", "round", "dealer?", "flop?", "hands"}, readResult}},
        {"result_corrected",
         {{"at_ms", "type", "table", "round", "dealer?", "flop?", "hands", "by?"},
          [](const Node& node) {
              return rules::CorrectResult{readResult(node), node["by"].people()};
          }}},
        {"jackpot_confirmed",
         {{"at_ms", "type", "table", "round", "pressed_ago_ms?"}, readConfirmation}},
        {"round_closed",
         {{"at_ms", "type", "table", "round"},
          [](const Node& node) {
              return rules::CloseRound{node["table"].text(), node["round"].round()};
          }}},
        {"surveillance_ruling", {{"at_ms", "type", "pool", "order", "by?"}, readRuling}},
        {"round_voided",
         {{"at_ms", "type", "table", "round", "ground", "by?", "forfeited?", "reason?"},
          readVoidRound}},
        {"wager_voided",
         {{"at_ms", "type", "table", "round", "seat", "ground", "by?", "reason?"}, readVoidWager}},
        {"table_suspended",
         {{"at_ms", "type", "table", "ground", "by?", "from?", "reason?"}, readSuspension}},
        {"table_resumed", {{"at_ms", "type", "table", "by?", "from?", "reason?"}, readResumption}},
        {"table_offline", {{"at_ms", "type", "table"}, readLinkCommand<rules::MarkTableOffline>}},
        {"table_online", {{"at_ms", "type", "table"}, readLinkCommand<rules::MarkTableOnline>}},
        {"pool_suspended",
         {{"at_ms", "type", "pool", "reason?"}, readPoolCommand<rules::SuspendPool>}},
        {"pool_resumed",
         {{"at_ms", "type", "pool", "reason?"}, readPoolCommand<rules::ResumePool>}},
        {"pool_adjusted", {{"at_ms", "type", "pool", "amount", "reason?", "by?"}, readAdjustment}},
        {"payment_recorded",
         {{"at_ms", "type", "table", "round", "seat", "paid", "by?", "tier?", "how?"},
          readPayment}},
        {"award_withheld",
         {{"at_ms", "type", "table", "round", "seat", "tier", "reason?", "by?"},
          readAwardCommand<rules::WithholdAward>}},
        {"award_released",
         {{"at_ms", "type", "table", "round", "seat", "tier", "reason?", "by?"},
          readAwardCommand<rules::ReleaseAward>}},
        {"pool_change_agreed", {{"at_ms", "type", "pool", "to", "reason?", "by?"}, readChange}},
        {"site_configured",
         {{"at_ms", "type", "pools", "tables"},
          [](const Node& node) { return rules::ConfigureSite{readSite(node)}; }}},
    };
    return types;
}

// Of an unknown type only the time and the type are read: it is refused, whatever else it holds.
ScenarioEvent readEvent(const Node& node)
{
    ScenarioEvent event;
    if (!node["type"].isThere() || !node["at_ms"].isThere()) {
        (void)node.isObjectOf({"at_ms", "type"});
        return event;
    }
    event.atMs = node["at_ms"].milliseconds(-kMaxMs);
    event.type = node["type"].text();
    const auto type = eventTypes().find(event.type);
    if (type != eventTypes().end() && node.isObjectOf(type->second.keys))
        event.command = type->second.read(node);
    const bool hasBoard = event.type == "round_result" || event.type == "result_corrected";
    if (const Node n = node["dealer"]; hasBoard && n.isThere()) event.dealer = {n.text()};
    if (const Node n = node["flop"]; hasBoard && n.isThere()) event.flop = n.texts();
    return event;
}

void addRuleErrors(const rules::Site& site, std::vector<std::string>& lines)
{
    for (const rules::ConfigError& error : rules::validate(site)) {
        const bool ofPool = error.of == rules::ConfigError::Of::Pool;
        std::string field{error.field};
        std::ranges::replace(field, '.', '/');
        std::string line = (ofPool ? "/pools/" : "/tables/") + std::to_string(error.index) + "/" +
                           field + ": " + error.message;
        if (!error.rule.empty()) line += " (" + std::string{error.rule} + ")";
        if (lines.size() < kMaxErrors) lines.push_back(std::move(line));
    }
}

std::string placeOfOffset(std::string_view json, std::size_t offset)
{
    const std::string_view before = json.substr(0, std::min(offset, json.size()));
    const auto lines = std::ranges::count(before, '\n');
    const auto column = before.size() - (lines == 0 ? 0 : before.rfind('\n') + 1);
    return "line " + std::to_string(lines + 1) + ", column " + std::to_string(column + 1);
}

}  // namespace

Result<Scenario, ScenarioErrors> readScenario(std::string_view json)
{
    // RapidJSON would take it for the end of the text.
    if (const auto nul = json.find('\0'); nul != std::string_view::npos)
        return ScenarioErrors{{placeOfOffset(json, nul) + ": not well-formed JSON: a NUL byte"}};
    rapidjson::Document document;
    // Iterative, so that no depth of nesting can exhaust the stack.
    document.Parse<rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag>(
        json.data(), json.size());
    if (document.HasParseError())
        return ScenarioErrors{
            {placeOfOffset(json, document.GetErrorOffset()) +
             ": not well-formed JSON: " + rapidjson::GetParseError_En(document.GetParseError())}};

    Scenario scenario;
    ScenarioErrors errors;
    const Node root{&document, "", errors.lines};
    if (!root.isObjectOf({"name?", "pools", "tables", "events", "expect?"})) return errors;
    scenario.name = textOr(root["name"]);
    scenario.site = readSite(root);
    root["events"].forEach([&](const Node& node) {
        ScenarioEvent event = readEvent(node);
        if (!scenario.events.empty() && event.atMs < scenario.events.back().atMs)
            node["at_ms"].error("time does not run backwards");
        scenario.events.push_back(std::move(event));
    });
    if (errors.lines.empty()) addRuleErrors(scenario.site, errors.lines);
    if (!errors.lines.empty()) return errors;
    return scenario;
}

}  // namespace jackpot::ctl
