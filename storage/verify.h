// Verifying a journal without trusting the program that wrote it: every payload hashed, the tree
// rebuilt, every checkpoint's root and signature, sequence and time, every outcome recomputed with
// the rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "storage/keys.h"
#include "storage/note.h"

namespace jackpot::storage {

struct VerifyOptions {
    // What the auditor holds. One of them must be a key that the journal's last checkpoint can be
    // traced to: the key itself, or one that handed over to it with both signatures.
    std::vector<Verifier> trusted;
    // The signed checkpoint of an earlier visit: it must be a prefix of what is there now.
    std::optional<std::string> since;
    bool signatures = true;
    bool outcomes = true;
    unsigned threads = 2;
    // Called now and then from one of the threads, with records of all files together.
    std::function<void(std::uint64_t done, std::uint64_t total)> progress;
    std::stop_token stop;
};

struct Fault {
    std::optional<std::uint64_t>
        seq;  // the first bad record; none where the file as a whole is wrong
    std::string what;
    std::filesystem::path file;
    bool operator==(const Fault&) const = default;
};

std::string inWords(const Fault& fault);

struct Verified {
    std::uint64_t first = 0;  // more than 0 where earlier segments were not given
    std::uint64_t end = 0;
    std::uint64_t commands = 0;
    std::uint64_t checkpoints = 0;
    Checkpoint last;
    std::string lastNote;
    std::vector<std::string>
        remarks;  // what an auditor should know: keys that changed, what was not there
};

// The files of one journal in the order of their records (filesOf()). Names the first bad record. A
// journal that is being written may be verified: what is committed when it begins counts.
Result<Verified, Fault> verify(const std::vector<std::filesystem::path>& files,
                               const VerifyOptions& options);

// Verifies in the background, on one thread, with low priority for the disk and the processor, and
// says how it ended. Ends early when destroyed; then nothing is said. While it runs, no segment can
// be closed: who does not want to wait destroys it and begins again.
class BackgroundVerification {
public:
    BackgroundVerification(std::vector<std::filesystem::path> files, VerifyOptions options,
                           std::function<void(const Result<Verified, Fault>&)> finished);

private:
    std::jthread thread_;
};

}  // namespace jackpot::storage
