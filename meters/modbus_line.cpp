#include "meters/modbus_line.h"

#include <fcntl.h>
#include <modbus/modbus.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace jackpot::meters {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::uint8_t kReadHolding = 3;
constexpr std::uint8_t kWriteOne = 6;
constexpr std::uint8_t kWriteSeveral = 16;
constexpr std::uint8_t kException = 0x80;

// Open for as long as the process runs, so that a line can be closed when descriptors are short.
int devNull()
{
    static const int descriptor = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    return descriptor;
}

std::string inWords(int error) { return std::system_category().message(error); }

// Not below zero, which poll() takes for no limit, and rounded up so as not to spin.
int millisecondsUntil(Clock::time_point deadline)
{
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    return static_cast<int>(std::max<milliseconds::rep>(left.count(), 0));
}

// What happened of `events` or, always, of POLLHUP and POLLERR; 0 at the deadline.
short waitFor(int descriptor, short events, int timeoutMs)
{
    pollfd waited{descriptor, events, 0};
    while (::poll(&waited, 1, timeoutMs) == -1)
        if (errno != EINTR) return POLLERR;
    return waited.revents;
}

void append(std::vector<std::uint8_t>& bytes, std::size_t word)
{
    bytes.push_back(static_cast<std::uint8_t>(word >> 8U));
    bytes.push_back(static_cast<std::uint8_t>(word));
}

void append(std::vector<std::uint8_t>& bytes, std::span<const std::uint16_t> values)
{
    bytes.push_back(static_cast<std::uint8_t>(2 * values.size()));
    for (const std::uint16_t value : values) append(bytes, std::size_t{value});
}

std::vector<std::uint8_t> started(std::uint8_t unit, std::uint8_t function, std::uint16_t address)
{
    std::vector<std::uint8_t> bytes{unit, function};
    append(bytes, std::size_t{address});
    return bytes;
}

// MODBUS over serial line 2.5.1.1: frames are 3.5 characters of 11 bits apart, 1.75 ms at least.
int quietMs(const SerialAddress& serial)
{
    const int microsecondsQuiet = std::max(38'500'000 / serial.baud, 1750);
    return (microsecondsQuiet + 999) / 1000;
}

}  // namespace

Result<LowDescriptor> LowDescriptor::reserve()
{
    if (devNull() == -1) return Error{"/dev/null: " + inWords(errno)};
    const int number = ::fcntl(devNull(), F_DUPFD_CLOEXEC, 0);
    if (number == -1) return Error{"no descriptor for a line to displays: " + inWords(errno)};
    LowDescriptor reserved{number};
    if (number >= FD_SETSIZE)
        return Error{"no descriptor below " + std::to_string(FD_SETSIZE) +
                     " is left for a line to displays: restart the daemon, which takes them first"};
    return reserved;
}

LowDescriptor::LowDescriptor(LowDescriptor&& other) noexcept
    : number_{std::exchange(other.number_, -1)}
{}

LowDescriptor& LowDescriptor::operator=(LowDescriptor&& other) noexcept
{
    std::swap(number_, other.number_);
    return *this;
}

LowDescriptor::~LowDescriptor()
{
    if (number_ != -1) ::close(number_);
}

void LowDescriptor::put(int descriptor) const
{
    ::dup3(descriptor, number_, O_CLOEXEC);
    ::close(descriptor);
}

void LowDescriptor::clear() const { ::dup3(devNull(), number_, O_CLOEXEC); }

Line::Line(LineAddress address, LowDescriptor descriptor)
    : address_{std::move(address)},
      descriptor_{std::move(descriptor)},
      modbus_{nullptr, modbus_free}
{
    if (const auto* serial = std::get_if<SerialAddress>(&address_))
        modbus_.reset(modbus_new_rtu(serial->device.c_str(), serial->baud, serial->parity, 8,
                                     serial->stopBits));
    else
        modbus_.reset(modbus_new_tcp(nullptr, 0));
    if (!modbus_) throw std::bad_alloc{};
    // Without a limit between bytes the one of the response is for all of it: select() counts it
    // down, and libmodbus does not set it again.
    modbus_set_byte_timeout(modbus_.get(), 0, 0);
}

Line::~Line()
{
    if (descriptor_.number() != -1) close();
}

LowDescriptor Line::release()
{
    close();
    return std::move(descriptor_);
}

void Line::close()
{
    // Else closing a device may wait for what it cannot send.
    if (open_ && std::holds_alternative<SerialAddress>(address_)) modbus_flush(modbus_.get());
    descriptor_.clear();
    open_ = false;
}

Result<void> Line::open(Clock::time_point deadline)
{
    const auto* const tcp = std::get_if<TcpAddress>(&address_);
    // What comes unasked on TCP is the end of the connection, or belongs to no request of ours.
    if (open_ && tcp && waitFor(descriptor_.number(), POLLIN, 0) != 0) close();
    if (open_) return {};
    if (auto opened = tcp ? connect(*tcp, deadline) : openDevice(); !opened) return opened;
    modbus_set_socket(modbus_.get(), descriptor_.number());
    open_ = true;
    return {};
}

// A name server may take many seconds. It is asked on a thread of its own, one at a time, whose
// answer is taken at a later attempt if it comes too late for this one.
Result<Line::Addresses> Line::lookUp(const TcpAddress& to, Clock::time_point deadline)
{
    const auto ask = [to](int flags) -> Result<Addresses> {
        addrinfo hints{};
        hints.ai_flags = flags | AI_NUMERICSERV;
        hints.ai_socktype = SOCK_STREAM;
        addrinfo* found = nullptr;
        if (const int failure =
                ::getaddrinfo(to.host.c_str(), std::to_string(to.port).c_str(), &hints, &found);
            failure != 0)
            return Error{to.host + ": " + ::gai_strerror(failure)};
        return Addresses{found, ::freeaddrinfo};
    };
    if (auto address = ask(AI_NUMERICHOST)) return address;
    if (!lookup_.valid()) {
        std::packaged_task<Result<Addresses>()> task{[ask] { return ask(0); }};
        lookup_ = task.get_future();
        std::thread{std::move(task)}.detach();
    }
    if (lookup_.wait_until(deadline) != std::future_status::ready)
        return Error{to.host + ": the name server does not answer in time"};
    return lookup_.get();
}

Result<void> Line::connect(const TcpAddress& to, Clock::time_point deadline)
{
    auto addresses = lookUp(to, deadline);
    if (!addresses) return addresses.error();
    std::string why;
    int untried = 0;
    for (const addrinfo* each = addresses->get(); each; each = each->ai_next) ++untried;
    for (const addrinfo* each = addresses->get(); each; each = each->ai_next, --untried) {
        const int made =
            ::socket(each->ai_family, each->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (made == -1) {
            why = inWords(errno);
            continue;
        }
        int failure = ::connect(made, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
        if (failure == EINPROGRESS) {
            failure = ETIMEDOUT;
            socklen_t size = sizeof(failure);
            if (waitFor(made, POLLOUT, millisecondsUntil(deadline) / untried) != 0)
                ::getsockopt(made, SOL_SOCKET, SO_ERROR, &failure, &size);
        }
        if (failure == 0) {
            const int on = 1;
            ::setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
            descriptor_.put(made);
            return {};
        }
        ::close(made);
        why = inWords(failure);
    }
    return Error{"cannot connect to " + to.host + " port " + std::to_string(to.port) + ": " + why};
}

Result<void> Line::openDevice()
{
    const auto& serial = std::get<SerialAddress>(address_);
    if (modbus_connect(modbus_.get()) == -1)
        return Error{"cannot open " + serial.device + ": " + inWords(errno)};
    descriptor_.put(modbus_get_socket(modbus_.get()));
    return {};
}

Result<void> Line::write(std::uint8_t unit, std::uint16_t address,
                         std::span<const std::uint16_t> values, Clock::time_point deadline)
{
    Bytes request = started(unit, kWriteSeveral, address);
    append(request, values.size());
    const Bytes expected = request;
    append(request, values);
    return exchange(request, expected, deadline);
}

Result<void> Line::writeOne(std::uint8_t unit, std::uint16_t address, std::uint16_t value,
                            Clock::time_point deadline)
{
    Bytes request = started(unit, kWriteOne, address);
    append(request, std::size_t{value});
    return exchange(request, request, deadline);
}

Result<void> Line::readBack(std::uint8_t unit, std::uint16_t address,
                            std::span<const std::uint16_t> values, Clock::time_point deadline)
{
    Bytes request = started(unit, kReadHolding, address);
    append(request, values.size());
    Bytes expected{unit, kReadHolding};
    append(expected, values);
    return exchange(request, expected, deadline);
}

// A late reply would be taken for the next request's, which may well look the same.
Result<void> Line::waitUntilQuiet(const SerialAddress& serial, Clock::time_point deadline)
{
    std::array<std::uint8_t, 256> discarded{};
    while (const short happened = waitFor(descriptor_.number(), POLLIN, quietMs(serial))) {
        if ((happened & POLLIN) == 0 ||
            ::read(descriptor_.number(), discarded.data(), discarded.size()) <= 0)
            return failed("the device is gone", true);
        if (Clock::now() >= deadline) return failed("the line is never quiet");
    }
    return {};
}

bool Line::send(const Bytes& request)
{
    if (!std::holds_alternative<TcpAddress>(address_))
        return modbus_send_raw_request(modbus_.get(), request.data(),
                                       static_cast<int>(request.size())) > 0;
    // The same from libmodbus would always have transaction 0.
    Bytes frame;
    append(frame, std::size_t{++transaction_});
    append(frame, std::size_t{0});
    append(frame, request.size());
    frame.insert(frame.end(), request.begin(), request.end());
    const ssize_t sent = ::send(descriptor_.number(), frame.data(), frame.size(), MSG_NOSIGNAL);
    return sent == static_cast<ssize_t>(frame.size());
}

Result<void> Line::exchange(const Bytes& request, const Bytes& expected, Clock::time_point deadline)
{
    const auto* const serial = std::get_if<SerialAddress>(&address_);
    if (serial)
        if (auto quiet = waitUntilQuiet(*serial, deadline); !quiet) return quiet;
    if (!send(request)) return failed("cannot send: " + inWords(errno), true);

    modbus_set_slave(modbus_.get(), request[0]);
    std::array<std::uint8_t, MODBUS_MAX_ADU_LENGTH> received{};
    int length = 0;
    bool ofAnother = false;
    // On a serial line a reply of another unit has length 0. It is late, and the right one may
    // follow.
    do {
        const auto left =
            std::max(std::chrono::ceil<microseconds>(deadline - Clock::now()), microseconds{1});
        modbus_set_response_timeout(modbus_.get(),
                                    static_cast<std::uint32_t>(left.count() / 1'000'000),
                                    static_cast<std::uint32_t>(left.count() % 1'000'000));
        length = modbus_receive_confirmation(modbus_.get(), received.data());
        ofAnother = ofAnother || length == 0;
    } while (length == 0 && Clock::now() < deadline);
    if (length == 0 || (length == -1 && errno == ETIMEDOUT))
        return failed(ofAnother ? "a reply of another unit" : "no reply in time");
    if (length == -1) {
        const bool isOfModbus = errno >= MODBUS_ENOBASE;
        return failed(isOfModbus ? modbus_strerror(errno) : inWords(errno), !isOfModbus);
    }

    std::span<const std::uint8_t> reply{received.data(), static_cast<std::size_t>(length)};
    if (serial) {
        reply = reply.first(reply.size() - 2);  // the checksum, which is right
    } else {
        Bytes header;
        append(header, std::size_t{transaction_});
        append(header, std::size_t{0});
        append(header, reply.size() - 6);
        if (!std::ranges::equal(reply.first(6), header))
            return failed("a reply to another request, or of another length than it says");
        reply = reply.subspan(6);
    }
    if (reply.size() == 3 && reply[0] == request[0] && reply[1] == (request[1] | kException))
        return Error{"exception " + std::to_string(reply[2]) +
                     (reply[2] < MODBUS_EXCEPTION_MAX
                          ? std::string{": "} + modbus_strerror(MODBUS_ENOBASE + reply[2])
                          : std::string{})};
    if (std::ranges::equal(reply, expected)) return {};
    if (reply[0] != request[0]) return failed("a reply of another unit");
    if (request[1] == kReadHolding && reply.size() == expected.size() && reply[1] == kReadHolding)
        return Error{"it holds other values than were written"};
    return failed("a reply that does not confirm the request");
}

// After an error nothing that still comes may be taken for the next reply: a connection is closed,
// and what has not been sent to a device, or read from it, is discarded.
Error Line::failed(const std::string& what, bool deviceIsGone)
{
    if (deviceIsGone || std::holds_alternative<TcpAddress>(address_))
        close();
    else
        modbus_flush(modbus_.get());
    return Error{what};
}

}  // namespace jackpot::meters
