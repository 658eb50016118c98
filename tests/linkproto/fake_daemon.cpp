#include "tests/linkproto/fake_daemon.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace jackpot::linkproto {

using Progress = net::TlsStream::Progress;

FakeDaemon::FakeDaemon(const net::TlsFiles& files)
    : tls_{net::TlsContext::make(net::TlsContext::Role::MutualServer, files).value()}
{
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        throw std::runtime_error{"no socket to listen on"};
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

FakeDaemon::~FakeDaemon()
{
    thread_.request_stop();
    thread_.join();
    ::close(listener_);
}

void FakeDaemon::run(const std::stop_token& stop)
{
    sigset_t brokenPipe;
    sigemptyset(&brokenPipe);
    sigaddset(&brokenPipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &brokenPipe, nullptr);
    while (!stop.stop_requested()) {
        std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
        {
            const std::scoped_lock lock{mutex_};
            accept();
            for (auto& connection : connections_) serve(connection);
            connections_.remove_if([](const Connection& each) { return each.isOver; });
            for (const auto& connection : connections_)
                waiting.push_back({connection.stream.socket(), POLLIN, 0});
        }
        ::poll(waiting.data(), waiting.size(), 5);
    }
}

void FakeDaemon::accept()
{
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) return;
    if (isRefusing_) {
        ::close(socket);
        return;
    }
    connections_.push_back(Connection{.stream = net::TlsStream{tls_, socket}});
}

void FakeDaemon::serve(Connection& connection)
{
    if (!connection.isUp) {
        const Progress progress = connection.stream.handshake();
        connection.isOver = progress == Progress::Failed || progress == Progress::Closed;
        connection.isUp = progress == Progress::Done;
        if (!connection.isUp) return;
        ++shaken_;
    }
    const Progress progress = connection.stream.read(connection.reader.buffer(), 1U << 16U);
    if (progress == Progress::Failed || progress == Progress::Closed) connection.isOver = true;
    try {
        while (const auto frame = connection.reader.next())
            if (!connection.isOver) answer(connection, *frame);
        if (connection.reader.fault() != FrameReader::Fault::None)
            throw std::runtime_error{"a frame is empty or too long"};
    } catch (const std::exception& error) {
        fault_ = error.what();
        connection.isOver = true;
    }
    if (isSilent_) connection.output.clear();
    if (connection.output.empty() || connection.isOver) return;
    std::string_view rest = connection.output;
    (void)connection.stream.write(rest);
    connection.output.erase(0, connection.output.size() - rest.size());
}

void FakeDaemon::answer(Connection& connection, std::string_view frame)
{
    link::v2::ToDaemon message;
    if (!message.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
        throw std::runtime_error{"a frame is no message"};
    for (const auto& each : logic_.answer(message)) send(connection, each);
    if (message.has_heartbeat()) {
        link::v2::ToTable heartbeat;
        heartbeat.mutable_heartbeat()->set_clock_ms(1);
        send(connection, heartbeat);
    }
    if (message.has_command() && losing_ > 0) {
        --losing_;
        connection.isOver = true;
    }
}

void FakeDaemon::send(Connection& connection, const link::v2::ToTable& message)
{
    appendFrame(connection.output, message);
}

void FakeDaemon::push(const link::v2::ToTable& message)
{
    const std::scoped_lock lock{mutex_};
    for (auto& connection : connections_)
        if (connection.isUp) send(connection, message);
}

void FakeDaemon::dropAll()
{
    const std::scoped_lock lock{mutex_};
    connections_.clear();
}

void FakeDaemon::refuse(bool isRefusing)
{
    const std::scoped_lock lock{mutex_};
    isRefusing_ = isRefusing;
}

void FakeDaemon::beSilent(bool isSilent)
{
    const std::scoped_lock lock{mutex_};
    isSilent_ = isSilent;
}

void FakeDaemon::loseAnswers(int count)
{
    const std::scoped_lock lock{mutex_};
    losing_ = count;
}

int FakeDaemon::connections() const
{
    const std::scoped_lock lock{mutex_};
    return shaken_;
}

std::string FakeDaemon::fault() const
{
    const std::scoped_lock lock{mutex_};
    return fault_;
}

}  // namespace jackpot::linkproto
