#include "audit/html.h"

namespace jackpot::audit {

std::string htmlText(std::string_view text)
{
    std::string out;
    for (const char c : printable(text)) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

Html& Html::money(rules::Money amount)
{
    return tags("<data value=\"")
        .text(toExact(amount))
        .tags("\">")
        .text(toRead(amount))
        .tags("</data>");
}

}  // namespace jackpot::audit
