#include "config/toml_section.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "config/identifiers.h"

namespace jackpot::config {
namespace {

constexpr std::size_t kMaxTextBytes = 4096;

Place placeOf(const toml::source_region& region, Place otherwise)
{
    if (region.begin.line == 0) return otherwise;
    return {region.begin.line, region.begin.column};
}

std::string_view inWords(toml::node_type type)
{
    switch (type) {
        case toml::node_type::string: return "a string";
        case toml::node_type::integer: return "a whole number";
        case toml::node_type::floating_point: return "a number with decimals";
        case toml::node_type::boolean: return "true or false";
        case toml::node_type::array: return "a list";
        case toml::node_type::table: return "a section";
        default: return "a date or time";
    }
}

}  // namespace

void Problems::add(Place place, std::string message, std::string_view rule)
{
    found_.push_back({file_, place.line, place.column, std::string{rule}, std::move(message)});
}

std::vector<ConfigProblem> Problems::inOrder() const
{
    std::vector<ConfigProblem> sorted = found_;
    std::ranges::stable_sort(sorted, {}, [](const ConfigProblem& problem) {
        return std::tuple{problem.line, problem.column};
    });
    return sorted;
}

Place Value::place() const
{
    return node_ ? placeOf(node_->source(), section_->place()) : section_->place();
}

void Value::error(const std::string& message, std::string_view rule) const
{
    section_->bad_.insert(key_);
    section_->problems_->add(place(), key_ + ": " + message, rule);
}

void Value::takes(std::string_view what) const
{
    error("takes " + std::string{what} + ", and this is " + std::string{inWords(node_->type())});
}

std::string Value::text() const
{
    if (!node_) return {};
    const auto* text = node_->as_string();
    if (!text)
        takes("a text in quotation marks");
    else if (text->get().empty() || text->get().size() > kMaxTextBytes)
        error("takes 1 to " + std::to_string(kMaxTextBytes) + " bytes");
    else
        return text->get();
    return {};
}

std::string Value::id() const
{
    if (!node_) return {};
    const auto* text = node_->as_string();
    if (!text) {
        takes("an id in quotation marks");
        return {};
    }
    if (const auto fine = checkId(text->get()); !fine) error(fine.error().message);
    return text->get();
}

bool Value::boolean(bool otherwise) const
{
    if (!node_) return otherwise;
    if (const auto* value = node_->as_boolean()) return value->get();
    takes("true or false without quotation marks");
    return otherwise;
}

std::int64_t Value::integer() const
{
    if (!node_) return 0;
    if (const auto* value = node_->as_integer()) return value->get();
    takes("a whole number without quotation marks");
    return 0;
}

std::int64_t Value::integer(std::int64_t otherwise, std::int64_t least, std::int64_t most) const
{
    if (!node_) return otherwise;
    const auto* value = node_->as_integer();
    const std::string range = std::to_string(least) + " to " + std::to_string(most);
    if (!value)
        takes("a whole number from " + range + " without quotation marks");
    else if (value->get() < least || value->get() > most)
        error(std::to_string(value->get()) + " is out of range: it takes " + range);
    else
        return value->get();
    return otherwise;
}

rules::Money Value::money() const
{
    if (!node_) return {};
    const auto* text = node_->as_string();
    if (!text) {
        takes("an amount in quotation marks, such as \"2.50\"");
        return {};
    }
    const auto amount = rules::parseMoney(text->get());
    if (amount) return *amount;
    error(amount.error().message);
    return {};
}

rules::Rate Value::rate() const
{
    if (!node_) return {};
    const auto* text = node_->as_string();
    if (!text) {
        takes("a rate in quotation marks, such as \"0.235\"");
        return {};
    }
    const auto rate = rules::parseRate(text->get());
    if (rate) return *rate;
    error(rate.error().message);
    return {};
}

std::filesystem::path Value::path(const std::filesystem::path& base) const
{
    const std::string name = text();
    if (name.find('\0') != std::string::npos) {
        error("a path contains no null character");
        return {};
    }
    return name.empty() ? std::filesystem::path{} : (base / name).lexically_normal();
}

std::optional<std::size_t> Value::oneOf(std::initializer_list<std::string_view> words) const
{
    if (!node_) return std::nullopt;
    const auto* text = node_->as_string();
    const auto* const found =
        text ? std::ranges::find(words, std::string_view{text->get()}) : words.end();
    if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
    std::string list;
    for (const auto* word = words.begin(); word != words.end(); ++word) {
        if (word != words.begin()) list += word + 1 == words.end() ? " or " : ", ";
        list += "\"" + std::string{*word} + "\"";
    }
    if (!text)
        takes(list);
    else
        error("takes " + list + ", not " + inQuotes(text->get()));
    return std::nullopt;
}

std::vector<Value::Item> Value::texts(std::size_t most) const
{
    std::vector<Item> items;
    if (!node_) return items;
    const auto* list = node_->as_array();
    if (!list) {
        takes("a list such as [\"BJ01\", \"BJ02\"]");
        return items;
    }
    if (list->empty() || list->size() > most) {
        error("the list takes 1 to " + std::to_string(most) + " texts");
        return items;
    }
    for (const toml::node& each : *list) {
        const Value item{*section_, key_, &each};
        if (const auto* text = each.as_string())
            items.push_back({text->get(), item.place()});
        else
            item.takes("texts in quotation marks");
    }
    return items;
}

TomlSection::TomlSection(const toml::table* table, Place place, std::string name,
                         Problems& problems)
    : table_{table}, place_{place}, name_{std::move(name)}, problems_{&problems}
{}

const toml::node* TomlSection::find(std::string_view key) const
{
    const toml::table* table = table_;
    while (table) {
        const std::size_t dot = key.find('.');
        const toml::node* node = table->get(key.substr(0, dot));
        if (!node || dot == std::string_view::npos) return node;
        table = node->as_table();
        key.remove_prefix(dot + 1);
    }
    return nullptr;
}

std::string TomlSection::headerOf(std::string_view key) const
{
    std::string header;
    for (const char c : name_)
        if (c != '[' && c != ']') header += c;
    return (header.empty() ? header : header + ".") + std::string{key};
}

Value TomlSection::operator[](std::string_view key)
{
    known_.emplace(key);
    return {*this, std::string{key}, find(key)};
}

Value TomlSection::required(std::string_view key)
{
    Value value = (*this)[key];
    if (isThere() && !value.isThere()) error(key, "this is missing from " + name_);
    return value;
}

TomlSection TomlSection::section(std::string_view key)
{
    const Value value = (*this)[key];
    const toml::node* node = find(key);
    if (node && !node->is_table())
        value.error("takes a section: write [" + headerOf(key) + "] on a line of its own, and " +
                    "its keys below");
    return {node ? node->as_table() : nullptr, value.place(), "[" + headerOf(key) + "]",
            *problems_};
}

TomlSection TomlSection::requiredSection(std::string_view key)
{
    if (!find(key)) error(key, "the section [" + std::string{key} + "] is missing");
    return section(key);
}

std::deque<TomlSection> TomlSection::sections(std::string_view key, std::size_t most)
{
    std::deque<TomlSection> all;
    const Value value = (*this)[key];
    if (!value.isThere()) return all;
    const toml::array* list = find(key)->as_array();
    const std::string header = "[[" + headerOf(key) + "]]";
    if (!list) {
        value.error("there can be several: write " + header + " with two brackets");
        return all;
    }
    if (list->size() > most)
        value.error("there are " + std::to_string(list->size()) + " of them, and " +
                    std::to_string(most) + " is the most");
    for (const toml::node& each : *list) {
        const Place place = placeOf(each.source(), place_);
        if (each.is_table() && all.size() < most)
            all.emplace_back(each.as_table(), place, header, *problems_);
        else if (!each.is_table())
            Value{*this, std::string{key}, &each}.error("takes sections: write " + header +
                                                        " for each of them");
    }
    return all;
}

void TomlSection::refuseUnknownKeys()
{
    if (!table_) return;
    for (const auto& [key, node] : *table_) {
        if (known_.contains(key.str())) continue;
        std::string message = "unknown key " + inQuotes(key.str());
        const std::string hint = didYouMean(key.str(), known_);
        message += name_.empty() ? std::string{} : " in " + name_;
        if (!hint.empty()) {
            message += hint;
        } else {
            message += name_.empty() ? ": there are " : ": it takes ";
            bool first = true;
            for (const std::string& each : known_) {
                if (!first) message += ", ";
                message += each;
                first = false;
            }
        }
        problems_->add(placeOf(key.source(), place_), message);
    }
}

void TomlSection::error(std::string_view key, const std::string& message, std::string_view rule)
{
    Value{*this, std::string{key}, find(key)}.error(message, rule);
}

void TomlSection::errorAt(Place place, std::string_view key, const std::string& message,
                          std::string_view rule)
{
    bad_.emplace(key);
    problems_->add(place, std::string{key} + ": " + message, rule);
}

std::size_t editDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
        }
    }
    return row[b.size()];
}

}  // namespace jackpot::config
