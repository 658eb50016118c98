// Pseudonyms of player cards: the journal never holds a card's number.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "linkproto/server/server_codec.h"

namespace jackpot {

// Pseudonyms keyed with the secret in this file (HMAC-SHA-256): the same card always has the same
// pseudonym, and nobody without the secret can find the card. An error if the file holds no secret,
// or if every user of the machine can read it. The result may be called in any thread.
Result<linkproto::Pseudonym> loadPlayerCardPseudonym(const std::filesystem::path& keyFile);

}  // namespace jackpot
