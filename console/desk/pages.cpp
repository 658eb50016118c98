#include "console/desk/pages.h"

#include <algorithm>
#include <string>

namespace jackpot::console {
namespace {

// Only files of this server are loaded and run.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'";

const Asset* findAsset(std::string_view name)
{
    const auto at = std::ranges::find(assets(), name, &Asset::name);
    return at == assets().end() ? nullptr : &*at;
}

Reply page(std::string_view name)
{
    const Asset& found = *findAsset(name);
    Reply reply{200, std::string{found.bytes}, std::string{found.contentType}, {}};
    reply.headers["Content-Security-Policy"] = kPolicy;
    reply.headers["Cross-Origin-Opener-Policy"] = "same-origin";
    return reply;
}

Reply asset(const Request& request)
{
    const std::string& name = request.path.at("name");
    const Asset* const found = findAsset(name);
    if (!found || name.ends_with(".html"))
        return errorReply(404, "not_found", "there is no file of this name");
    Reply reply{200, std::string{found->bytes}, std::string{found->contentType}, {}};
    // Every name but the icon's has a hash of the content, so its content never changes.
    if (name.find('-') != std::string::npos)
        reply.headers["Cache-Control"] = "public, max-age=31536000, immutable";
    return reply;
}

}  // namespace

std::vector<Route> pageRoutes()
{
    const auto shows = [](std::string_view name) {
        return [name](const Request&) { return page(name); };
    };
    return {
        {"GET", "/", Access::Anyone, {}, Owner::Refused, shows("console.html")},
        {"GET", "/sign/{pool}", Access::Anyone, {}, Owner::Refused, shows("sign.html")},
        {"GET", "/table/{table}", Access::Anyone, {}, Owner::Refused, shows("table.html")},
        {"GET", "/assets/{name}", Access::Anyone, {}, Owner::Refused, asset},
    };
}

}  // namespace jackpot::console
