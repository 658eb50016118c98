#include "tools/cli/read_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "tools/cli/command_error.h"

namespace jackpot::cli {

std::string readFile(const std::filesystem::path& file, std::size_t maxBytes)
{
    struct Descriptor {
        int number;
        ~Descriptor()
        {
            if (number >= 0) ::close(number);
        }
    };
    const Descriptor in{::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    if (in.number < 0)
        throw CommandError{kBadInput,
                           file.string() + ": it cannot be opened: " + audit::systemError(errno)};
    std::string content;
    std::string chunk(1U << 16U, '\0');
    while (true) {
        const ssize_t got = ::read(in.number, chunk.data(), chunk.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw CommandError{kBadInput,
                               file.string() + ": it cannot be read: " + audit::systemError(errno)};
        if (got == 0) return content;
        content.append(chunk, 0, static_cast<std::size_t>(got));
        if (content.size() > maxBytes)
            throw CommandError{kBadInput, file.string() + ": it is larger than " +
                                              std::to_string(maxBytes) +
                                              " bytes, the most that is expected here: check the "
                                              "name"};
    }
}

}  // namespace jackpot::cli
