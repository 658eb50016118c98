// Parameters of a request's path and query. A handler ends early by throwing an HttpError, which
// DeskApi turns into the reply.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "console/people/access.h"
#include "storage/sqlite.h"

namespace jackpot::console {

struct HttpError {
    Reply reply;
};

[[noreturn]] inline void throwHttpError(int status, std::string_view code, std::string_view message)
{
    throw HttpError{errorReply(status, code, message)};
}

// 503: the daemon or the journal cannot do it now.
[[noreturn]] inline void throwUnavailable(std::string_view why)
{
    throwHttpError(503, "unavailable", why);
}

template <class T>
T orThrowUnavailable(Result<T> result)
{
    if (!result) throwUnavailable(result.error().message);
    return *std::move(result);
}

// 503: the search index cannot be read.
template <class T>
T orThrowNotSearchable(storage::SqliteResult<T> result)
{
    if (!result) throwHttpError(503, "search_not_readable", result.error().message);
    return *std::move(result);
}

template <class T>
T orThrowBadBody(Result<T> result)
{
    if (!result) throwHttpError(400, "bad_body", result.error().message);
    return *std::move(result);
}

// A parameter of the path, which the server has matched.
std::string pathText(const Request& request, const std::string& key);
// 404 if it is not a number.
std::int64_t pathNumber(const Request& request, const std::string& key);

// Parameters of the query; 400 if one is malformed. An absent text is empty.
std::string queryText(const Request& request, const std::string& key);
std::optional<std::int64_t> queryNumber(const Request& request, const std::string& key);
std::optional<bool> queryFlag(const Request& request, const std::string& key);
std::size_t queryLimit(const Request& request);
// 400 if the query has any other parameter.
void allowOnlyParameters(const Request& request, std::initializer_list<std::string_view> keys);

}  // namespace jackpot::console
