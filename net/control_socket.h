// A socket in the journal's directory over which jackpotctl asks the running daemon for something:
// one line of words in, lines out, the first of which is "ok" or "refused".
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/result.h"

namespace jackpot::net {

inline constexpr const char* kControlName = "control.sock";

// One thread. Only the owner of the directory can connect.
class ControlSocket {
public:
    static Result<ControlSocket> listen(const std::filesystem::path& directory);
    ControlSocket(ControlSocket&& other) noexcept;
    ControlSocket& operator=(ControlSocket&&) = delete;
    ~ControlSocket();

    // For poll().
    [[nodiscard]] int descriptor() const { return descriptor_; }
    // Takes one request and answers it. A client that dawdles is left after a second.
    void answer(const std::function<std::string(const std::string& request)>& handle) const;

private:
    ControlSocket(int descriptor, std::filesystem::path path)
        : descriptor_{descriptor}, path_{std::move(path)}
    {}
    int descriptor_;
    std::filesystem::path path_;
};

// The daemon's answer, from a program that is not the daemon.
Result<std::string> askDaemon(const std::filesystem::path& directory, const std::string& request);

}  // namespace jackpot::net
