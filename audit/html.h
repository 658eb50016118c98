// HTML as it is written: markup is what stands in this program, all else is escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "audit/output.h"
#include "rules/money.h"

namespace jackpot::audit {

// Text from anywhere as HTML, also within quotes of either kind: printable(), and what is special
// to HTML as a character reference.
std::string htmlText(std::string_view text);

class Html {
public:
    // Only a literal can become markup, so that nothing from a journal ever does.
    class Markup {
    public:
        template <std::size_t n>
        consteval Markup(const char (&literal)[n]) : text_{literal, n - 1}
        {}
        [[nodiscard]] std::string_view text() const { return text_; }

    private:
        std::string_view text_;
    };

    explicit Html(Output& out) : out_{out} {}

    Html& tags(Markup markup)
    {
        out_.write(markup.text());
        return *this;
    }
    Html& text(std::string_view text)
    {
        out_.write(htmlText(text));
        return *this;
    }
    // What people wrote, so that its direction of writing reaches no further.
    Html& quoted(std::string_view text) { return tags("<bdi>").text(text).tags("</bdi>"); }
    Html& number(std::int64_t number)
    {
        out_.write(std::to_string(number));
        return *this;
    }
    // To read, with the exact amount as its value.
    Html& money(rules::Money amount);

private:
    Output& out_;
};

}  // namespace jackpot::audit
