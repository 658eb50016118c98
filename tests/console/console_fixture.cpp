#include "tests/console/console_fixture.h"

#include <stdexcept>

namespace jackpot::console::testing {

ConsoleFixture::ConsoleFixture(SessionSettings settings)
{
    controller.appendEvent = [this](const std::string& kind,
                                    const EventFields& fields) -> Result<std::uint64_t> {
        const std::scoped_lock lock{mutex_};
        if (failNotes_) return Error{"the journal cannot be written"};
        std::string text;
        storage::JsonText json{text};
        json.beginObject();
        json.textField("kind", kind);
        if (fields) fields(json);
        json.endObject();
        notes_.push_back(text);
        return notes_.size();
    };
    controller.snapshot = []() -> Result<std::shared_ptr<const rules::State>> {
        return std::make_shared<const rules::State>();
    };
    controller.decide = [](const rules::Command&) -> Result<rules::Outcome> {
        return Error{"there is no floor here"};
    };
    controller.lock = []() -> Result<Controller::Lock> { return Controller::Lock{}; };
    sessions = std::make_unique<Sessions>(settings, [this] {
        const std::scoped_lock lock{mutex_};
        return now_;
    });
    book = std::make_unique<SearchIndex>(SearchIndex::Settings{.journal = directory(), .file = {}},
                                         changes);
    desk = std::make_unique<DeskApi>(DeskSettings{.journal = directory(), .now = {}}, controller,
                                     *book);
    monitoring = {[]() -> Result<void> { return {}; }, []() -> Result<void> { return {}; },
                  [] { return std::string{"figures 1\n"}; }};
    reopen();
}

ConsoleFixture::~ConsoleFixture()
{
    desk.reset();
    book.reset();
    people.reset();
}

void ConsoleFixture::reopen()
{
    people.reset();
    auto opened = People::open(
        directory(), controller.appendEvent, *sessions,
        [this] {
            const std::scoped_lock lock{mutex_};
            return now_;
        },
        [this](const std::string& warning) {
            const std::scoped_lock lock{mutex_};
            warnings_.push_back(warning);
        });
    if (!opened) throw std::runtime_error{opened.error().message};
    people = std::move(*opened);
}

std::vector<std::string> ConsoleFixture::notes() const
{
    const std::scoped_lock lock{mutex_};
    return notes_;
}

std::vector<std::string> ConsoleFixture::notes(const std::string& kind) const
{
    std::vector<std::string> found;
    for (const std::string& each : notes())
        if (each.starts_with(R"({"kind":")" + kind + "\"")) found.push_back(each);
    return found;
}

std::vector<std::string> ConsoleFixture::warnings() const
{
    const std::scoped_lock lock{mutex_};
    return warnings_;
}

void ConsoleFixture::failNotes(bool fail)
{
    const std::scoped_lock lock{mutex_};
    failNotes_ = fail;
}

void ConsoleFixture::pass(std::int64_t ms)
{
    const std::scoped_lock lock{mutex_};
    now_ += ms;
}

std::string ConsoleFixture::passwordOf(const std::string& name) { return name + "'s password"; }

void ConsoleFixture::add(const std::string& name, Role role, bool mustChange)
{
    const auto added =
        people->add({name, role, passwordOf(name), "", mustChange}, People::kLocalActor);
    if (!added) throw std::runtime_error{added.error().message};
}

}  // namespace jackpot::console::testing
