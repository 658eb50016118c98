// The one status type: either a value, or an error whose message names the remedy. It is for faults
// of the input or the environment. A fault of the program itself is never a Result; it is an
// InvariantViolation.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace jackpot {

struct Error {
    std::string message;

    bool operator==(const Error&) const = default;
};

// Reading the value of an error, or the error of a value, throws std::bad_variant_access.
template <class T, class E = Error>
class [[nodiscard]] Result {
public:
    Result(T value) : held_{std::in_place_index<0>, std::move(value)} {}
    Result(E error) : held_{std::in_place_index<1>, std::move(error)} {}

    explicit operator bool() const noexcept { return held_.index() == 0; }

    T& value() & { return std::get<0>(held_); }
    const T& value() const& { return std::get<0>(held_); }
    T&& value() && { return std::get<0>(std::move(held_)); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }

    const E& error() const { return std::get<1>(held_); }

private:
    std::variant<T, E> held_;
};

// For functions that only succeed or fail.
template <class E>
class [[nodiscard]] Result<void, E> {
public:
    Result() = default;
    Result(E error) : error_{std::move(error)} {}

    explicit operator bool() const noexcept { return !error_; }
    const E& error() const { return error_.value(); }

private:
    std::optional<E> error_;
};

}  // namespace jackpot
