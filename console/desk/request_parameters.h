// What a request asks for, taken apart. A handler ends early by throwing what to answer; the table
// of routes catches it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "console/people/access.h"

namespace jackpot::console {

struct HttpError {
    Reply reply;
};

[[noreturn]] inline void answer(int status, std::string_view code, std::string_view message)
{
    throw HttpError{errorReply(status, code, message)};
}

// What the daemon or the journal cannot do now.
[[noreturn]] inline void unavailable(std::string_view why) { answer(503, "unavailable", why); }

template <class T>
T orUnavailable(Result<T> result)
{
    if (!result) unavailable(result.error().message);
    return *std::move(result);
}

template <class T>
T orBadBody(Result<T> result)
{
    if (!result) answer(400, "bad_body", result.error().message);
    return *std::move(result);
}

// Of the path, which the server has matched.
std::string nameIn(const Request& request, const std::string& key);
// 404 where it is no number: there is nothing of that name.
std::int64_t numberIn(const Request& request, const std::string& key);

// Of the query; 400 where it is something else.
std::string textOf(const Request& request, const std::string& key);
std::optional<std::int64_t> numberOf(const Request& request, const std::string& key);
std::size_t limitOf(const Request& request);
void allowOnly(const Request& request, std::initializer_list<std::string_view> keys);

}  // namespace jackpot::console
