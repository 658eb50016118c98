// A JSON text, parsed in place in buffers that most records fit into. For the readers of this
// folder.
#pragma once

#include <rapidjson/document.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "storage/json_read.h"

namespace jackpot::storage {

class ParsedJson {
public:
    enum class Form : std::uint8_t {
        Whole,         // one value and nothing else
        FirstValue,    // a value and any text after it; whether it is UTF-8 is not checked
        RestOfObject,  // of an object, everything from a comma to its end
    };

    // Throws BadJson if the text is not well-formed.
    ParsedJson(std::string_view text, Form form)
    {
        char* const copy = copyOf(text);
        if (form == Form::RestOfObject) {
            if (*copy != ',') throw BadJson{"it is not well-formed JSON"};
            *copy = '{';
        }
        rapidjson::InsituStringStream stream{copy};
        constexpr unsigned kFlags = rapidjson::kParseIterativeFlag | rapidjson::kParseInsituFlag;
        if (form == Form::FirstValue)
            document_.ParseStream<kFlags | rapidjson::kParseStopWhenDoneFlag>(stream);
        else
            document_.ParseStream<kFlags | rapidjson::kParseValidateEncodingFlag>(stream);
        if (document_.HasParseError()) throw BadJson{"it is not well-formed JSON"};
        length_ = stream.Tell();
    }
    [[nodiscard]] const Json& value() const { return document_; }
    // The number of bytes that were parsed.
    [[nodiscard]] std::size_t length() const { return length_; }

private:
    using Pool = rapidjson::MemoryPoolAllocator<>;

    char* copyOf(std::string_view text)
    {
        if (text.size() >= textBuffer_.size()) return (longText_ = text).data();
        std::memcpy(textBuffer_.data(), text.data(), text.size());
        textBuffer_[text.size()] = '\0';
        return textBuffer_.data();
    }

    std::size_t length_ = 0;
    std::array<char, 1U << 10U> textBuffer_;
    std::string longText_;
    std::array<char, 1U << 13U> valueBuffer_;
    std::array<char, 1U << 11U> stackBuffer_;
    Pool values_{valueBuffer_.data(), valueBuffer_.size()};
    Pool stack_{stackBuffer_.data(), stackBuffer_.size()};
    rapidjson::GenericDocument<rapidjson::UTF8<>, Pool, Pool> document_{&values_, 512, &stack_};
};

}  // namespace jackpot::storage
