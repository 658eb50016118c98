// Reads one section of the file key by key. A problem is recorded and reading continues with a
// harmless value, so that the user sees all problems at once.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "rules/money.h"

namespace jackpot::config {

struct Place {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

class Problems {
public:
    explicit Problems(std::string file) : file_{std::move(file)} {}

    void add(Place place, std::string message, std::string_view rule = {});
    [[nodiscard]] bool any() const { return !found_.empty(); }
    [[nodiscard]] std::vector<ConfigProblem> inOrder() const;

private:
    std::string file_;
    std::vector<ConfigProblem> found_;
};

class TomlSection;

// The value of a key. Each function returns a value within its limits, or records a problem. For an
// absent key it returns `otherwise` and records no problem.
class Value {
public:
    Value(TomlSection& section, std::string key, const toml::node* node)
        : section_{&section}, key_{std::move(key)}, node_{node}
    {}

    [[nodiscard]] bool isThere() const { return node_ != nullptr; }
    [[nodiscard]] Place place() const;
    void error(const std::string& message, std::string_view rule = {}) const;

    [[nodiscard]] std::string text() const;  // 1 to 4096 bytes
    [[nodiscard]] std::string id() const;
    [[nodiscard]] bool boolean(bool otherwise) const;
    [[nodiscard]] std::int64_t integer() const;
    [[nodiscard]] std::int64_t integer(std::int64_t otherwise, std::int64_t least,
                                       std::int64_t most) const;
    [[nodiscard]] rules::Money money() const;
    [[nodiscard]] rules::Rate rate() const;
    [[nodiscard]] std::filesystem::path path(const std::filesystem::path& base) const;
    // The index of the text in `words`, or nullopt.
    [[nodiscard]] std::optional<std::size_t> oneOf(
        std::initializer_list<std::string_view> words) const;

    struct Item {
        std::string text;
        Place place;
    };
    [[nodiscard]] std::vector<Item> texts(std::size_t most) const;

private:
    void takes(std::string_view what) const;

    TomlSection* section_;
    std::string key_;
    const toml::node* node_;
};

// A table of the document. A key is known once it has been read.
class TomlSection {
public:
    // A null table represents an absent section; it reports no missing keys.
    TomlSection(const toml::table* table, Place place, std::string name, Problems& problems);

    [[nodiscard]] bool isThere() const { return table_ != nullptr; }
    [[nodiscard]] Place place() const { return place_; }

    Value operator[](std::string_view key);
    Value required(std::string_view key);
    TomlSection section(std::string_view key);
    TomlSection requiredSection(std::string_view key);
    // The tables of [[key]], at most `most`.
    std::deque<TomlSection> sections(std::string_view key, std::size_t most);

    // Reports unknown keys. Call it when all keys have been read.
    void refuseUnknownKeys();

    // Records a problem at the value of the key ("bonus.royal_flush" too), or at the header if the
    // key is absent.
    void error(std::string_view key, const std::string& message, std::string_view rule = {});
    // Records a problem at another place.
    void errorAt(Place place, std::string_view key, const std::string& message,
                 std::string_view rule = {});
    void markBad(const std::string& key) { bad_.insert(key); }
    // True if a problem was recorded for the key; a missing key is one, too.
    [[nodiscard]] bool isBad(std::string_view key) const { return bad_.contains(key); }

private:
    friend class Value;
    [[nodiscard]] const toml::node* find(std::string_view key) const;
    // "pool.bonus" for the key bonus of [[pool]].
    [[nodiscard]] std::string headerOf(std::string_view key) const;

    const toml::table* table_;
    Place place_;
    std::string name_;  // "[link]"; empty for the document
    Problems* problems_;
    std::set<std::string, std::less<>> known_;
    std::set<std::string, std::less<>> bad_;
};

std::size_t editDistance(std::string_view a, std::string_view b);

// ": did you mean "minimum"?" if one of the words is similar, else empty.
template <class Words>
std::string didYouMean(std::string_view given, const Words& words)
{
    constexpr std::size_t kLongest = 64;
    std::size_t nearest = given.size() < 4 ? 2 : 3;
    std::string found;
    if (given.size() > kLongest) return found;
    for (const std::string_view word : words)
        if (const std::size_t distance = editDistance(given, word);
            distance < nearest && distance < word.size()) {
            nearest = distance;
            found = ": did you mean \"" + std::string{word} + "\"?";
        }
    return found;
}

}  // namespace jackpot::config
