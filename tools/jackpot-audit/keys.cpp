// jackpot-audit keygen and pubkey.
#include "storage/keys.h"

#include <unistd.h>

#include <array>
#include <memory>

#include "tools/cli/command_error.h"
#include "tools/cli/output.h"
#include "tools/jackpot-audit/commands.h"

namespace jackpot::auditor {
namespace {

using storage::PrivateKey;
using storage::Verifier;

std::string defaultName()
{
    std::array<char, 256> host{};
    if (::gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') return "jackpotd";
    return "jackpotd/" + std::string{host.data()};
}

void requireKeyName(const std::string& name)
{
    if (const auto fine = storage::checkKeyName(name); !fine)
        throw cli::UsageError{"--name \"" + name + "\": " + fine.error().message};
}

void printKey(const std::string& name, const PrivateKey& key)
{
    cli::FileOutput out;
    out.write(Verifier::make(name, key.publicKey()).value().format() + "\n");
    out.commit();
}

struct KeyOptions {
    std::string name;
    std::string file;
};

int makeKey(const KeyOptions& options)
{
    const std::string name = options.name.empty() ? defaultName() : options.name;
    requireKeyName(name);
    const PrivateKey key = PrivateKey::generate();
    if (const auto written = key.writeTo(options.file); !written)
        throw cli::CommandError{cli::kBadInput, written.error().message};
    try {
        printKey(name, key);
    } catch (const cli::CommandError&) {
        // The key was never used: remove its file.
        ::unlink(options.file.c_str());
        throw;
    }
    return cli::kSuccess;
}

int printPublicKey(const KeyOptions& options)
{
    requireKeyName(options.name);
    const auto key = PrivateKey::load(options.file);
    if (!key) throw cli::CommandError{cli::kBadInput, key.error().message};
    printKey(options.name, *key);
    return cli::kSuccess;
}

}  // namespace

void addKeygen(cli::Command& program)
{
    auto options = std::make_shared<KeyOptions>();
    program.add("keygen", "make a key to sign a journal with")
        .describe(
            "Makes an Ed25519 key, writes the private key to FILE (PKCS#8 in PEM, mode 0600; an "
            "existing file is never overwritten) and prints the verifier key. The verifier key is "
            "not secret: give it to the auditors.")
        .option("--out FILE", options->file,
                "the file for the private key; keep it on the controller alone")
        .required()
        .option("--name NAME", options->name,
                "the name in the journal's checkpoints, for the whole life of the journal: UTF-8 "
                "without spaces and plus signs; jackpotd/HOSTNAME unless given. A new key for the "
                "same journal (key rotation) must have the same name")
        .exitStatuses({{0, "made"}, {2, "not made"}})
        .example("jackpot-audit keygen --name jackpotd/star --out journal.key")
        .run([options] { return makeKey(*options); });
}

void addPubkey(cli::Command& program)
{
    auto options = std::make_shared<KeyOptions>();
    program.add("pubkey", "print the verifier key of a private key")
        .describe(
            "Prints the verifier key, which auditors hold, of the Ed25519 private key in FILE "
            "(PKCS#8 in PEM). A FILE that other users may read is refused.")
        .argument("FILE", options->file, "the private key")
        .option("--name NAME", options->name,
                "the name in the journal's checkpoints; a key file does not hold it")
        .required()
        .exitStatuses({{0, "printed"}, {2, "not printed"}})
        .run([options] { return printPublicKey(*options); });
}

}  // namespace jackpot::auditor
