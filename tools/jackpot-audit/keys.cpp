// jackpot-audit keygen and pubkey.
#include <unistd.h>

#include <array>

#include "tools/jackpot-audit/cli.h"
#include "tools/jackpot-audit/commands.h"
#include "tools/jackpot-audit/output.h"

namespace jackpot::audit {
namespace {

using storage::PrivateKey;
using storage::Verifier;

constexpr std::string_view kKeygenHelp =
    R"(jackpot-audit keygen - make a key to sign a journal with

Usage:
  jackpot-audit keygen [--name NAME] --out FILE

Makes an Ed25519 key, writes the private key to FILE (PKCS#8 in PEM, mode 0600, never over another
file) and prints the verifier key, which is not secret: hand it to the auditors.

Options:
  --name NAME  the name that the journal's checkpoints carry, for the whole life of the journal:
               UTF-8 without spaces and plus signs; default jackpotd/HOSTNAME. A new key for the
               same journal (key rotation) must have the same name.
  --out FILE   where the private key goes; keep it on the controller alone
  --help       print this

Exit status: 0 made, 2 not made
)";

constexpr std::string_view kPubkeyHelp =
    R"(jackpot-audit pubkey - the verifier key of a private key

Usage:
  jackpot-audit pubkey --name NAME FILE

Prints the verifier key, which auditors hold, of the Ed25519 private key in FILE (PKCS#8 in PEM).
Refused where others than the owner may read FILE.

Options:
  --name NAME  the name that the journal's checkpoints carry; a key file does not hold it
  --help       print this

Exit status: 0 printed, 2 not printed
)";

std::string defaultName()
{
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') return "jackpotd";
    return "jackpotd/" + std::string{host.data()};
}

void requireName(const Arguments& arguments, const std::string& name)
{
    if (const auto fine = storage::checkKeyName(name); !fine)
        arguments.refuse("--name \"" + name + "\": " + fine.error().message);
}

void printKey(const std::string& name, const PrivateKey& key)
{
    FileOutput out;
    out.write(Verifier::make(name, key.publicKey()).value().format() + "\n");
    out.commit();
}

}  // namespace

int keygenCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kKeygenHelp)) return kGood;
    const Arguments arguments{
        "keygen", given, {{"--name", Option::Form::Value}, {"--out", Option::Form::Value}}};
    arguments.requirePositional(0, 0, "no argument but its options");
    const std::string file = arguments.value("--out").value_or("");
    if (file.empty()) arguments.refuse("--out FILE is needed");
    const std::string name = arguments.value("--name").value_or(defaultName());
    requireName(arguments, name);

    const PrivateKey key = PrivateKey::generate();
    if (const auto written = key.writeTo(file); !written)
        throw Stop{kBadInput, written.error().message};
    try {
        printKey(name, key);
    } catch (const Stop&) {
        // Nobody has used it yet.
        ::unlink(file.c_str());
        throw;
    }
    return kGood;
}

int pubkeyCommand(const std::vector<std::string>& given)
{
    if (printHelp(given, kPubkeyHelp)) return kGood;
    const Arguments arguments{"pubkey", given, {{"--name", Option::Form::Value}}};
    arguments.requirePositional(1, 1, "one FILE");
    const auto name = arguments.value("--name");
    if (!name) arguments.refuse("--name NAME is needed: a key file does not hold it");
    requireName(arguments, *name);

    const auto key = PrivateKey::load(arguments.positional()[0]);
    if (!key) throw Stop{kBadInput, key.error().message};
    printKey(*name, *key);
    return kGood;
}

}  // namespace jackpot::audit
