// Writes JSON in the one form that the journal knows: no white space, keys in the order they are
// written.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rules/money.h"

namespace jackpot::storage {

// Appends to a string that it borrows. Commas come by themselves.
class JsonText {
public:
    explicit JsonText(std::string& out) : out_{out} {}
    // Goes on inside an object that already has a field.
    static JsonText continued(std::string& out)
    {
        JsonText json{out};
        json.fresh_ = false;
        return json;
    }

    void beginObject() { open('{'); }
    void endObject() { close('}'); }
    void beginArray() { open('['); }
    void endArray() { close(']'); }

    // `name` holds nothing that needs escaping.
    void key(std::string_view name)
    {
        Piece piece;
        put(piece, name);
        append(piece);
        fresh_ = true;
    }

    // Bytes that are not UTF-8 become U+FFFD each; then isFaithful() is false from there on.
    void text(std::string_view value);
    void number(std::int64_t value)
    {
        Piece piece;
        comma(piece);
        put(piece, value);
        append(piece);
    }
    void boolean(bool value)
    {
        comma();
        out_ += value ? "true" : "false";
    }
    void money(rules::Money amount)  // "50001.17500000"
    {
        Piece piece;
        comma(piece);
        put(piece, amount);
        append(piece);
    }

    void textField(std::string_view name, std::string_view value);
    void numberField(std::string_view name, std::int64_t value)
    {
        Piece piece;
        put(piece, name);
        put(piece, value);
        append(piece);
    }
    void boolField(std::string_view name, bool value)
    {
        key(name);
        boolean(value);
    }
    void moneyField(std::string_view name, rules::Money amount)
    {
        Piece piece;
        put(piece, name);
        put(piece, amount);
        append(piece);
    }

    // A list of objects, each with what `writeOne` writes into it.
    template <class T, class WriteOne>
    void objectsField(std::string_view name, const std::vector<T>& list, WriteOne&& writeOne)
    {
        key(name);
        beginArray();
        for (const T& each : list) {
            beginObject();
            writeOne(each);
            endObject();
        }
        endArray();
    }

    [[nodiscard]] bool isFaithful() const { return faithful_; }

private:
    // A key, its value and what is around them are put together here and appended at once: records
    // are written and recomputed by the million. Its bytes are not initialised for the same reason.
    static constexpr std::size_t kShort = 64;
    struct Piece {  // NOLINT(cppcoreguidelines-pro-type-member-init)
        std::array<char, 2 * kShort> bytes;
        char* end = bytes.data();
    };
    void append(const Piece& piece)
    {
        out_.append(std::string_view{piece.bytes.data(), piece.end});
        fresh_ = false;
    }
    void comma(Piece& piece) const
    {
        if (!fresh_) *piece.end++ = ',';
    }
    void put(Piece& piece, std::string_view key) const;
    static void put(Piece& piece, std::int64_t value);
    static void put(Piece& piece, rules::Money amount);
    static bool putIfShort(Piece& piece, std::string_view text);

    void comma()
    {
        if (!fresh_) out_ += ',';
        fresh_ = false;
    }
    void open(char bracket)
    {
        comma();
        out_ += bracket;
        fresh_ = true;
    }
    void close(char bracket)
    {
        out_ += bracket;
        fresh_ = false;
    }

    std::string& out_;
    bool fresh_ = true;  // nothing to separate from
    bool faithful_ = true;
};

}  // namespace jackpot::storage
