#include "tools/floorsim/books.h"

#include <doctest/doctest.h>

namespace jackpot::floorsim {
namespace {

constexpr std::int64_t kDollar = 100 * kUnitsPerCent;

struct Account {
    std::vector<JackpotAward> awards;
    std::vector<std::string> mistakes;
    PoolAccount pool;
    std::uint64_t record = 0;

    explicit Account(std::int64_t windowMs = 2000, Game game = Game::BlazingSevens)
        : pool{termsOf(windowMs, game), 3,
               [this](const JackpotAward& award) { awards.push_back(award); },
               [this](std::string what) { mistakes.push_back(std::move(what)); }}
    {
        pool.begin(pool.terms().opening / kUnitsPerCent, true, false);
    }
    static PoolTerms termsOf(std::int64_t windowMs, Game game)
    {
        PoolTerms terms;
        terms.id = "P";
        terms.game = game;
        terms.wagerCents = 500;
        terms.increment = 235'000;
        terms.minimum = 50'000 * kDollar;
        terms.opening = 60'000 * kDollar;
        terms.windowMs = windowMs;
        terms.isAllOurs = true;
        return terms;
    }
    void move(Movement::Kind kind, std::int64_t round, std::int64_t shownCents, SeatSet seats = 0,
              Tier tier = Tier::None)
    {
        Movement movement;
        movement.kind = kind;
        movement.record = ++record;
        movement.round = {0, round};
        movement.seats = seats;
        movement.shownCents = shownCents;
        movement.tiers[1] = tier;
        pool.apply(movement);
    }
};

using Kind = Movement::Kind;

}  // namespace

TEST_CASE("a settlement uses the meter at its confirmation, not later contributions")
{
    Account account;
    account.move(Kind::Opened, 1, 60'001'17, bitOf(1));
    account.move(Kind::Confirmed, 1, 60'001'17, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Opened, 2, 60'002'35, bitOf(1));
    SUBCASE("the settlement was reported") { account.move(Kind::Settled, 1, 54'002'23); }
    SUBCASE("the settlement was not reported, and the next amount shows it")
    {
        account.move(Kind::Opened, 3, 54'003'40, bitOf(2));
    }
    CHECK(account.mistakes.empty());
    REQUIRE(account.awards.size() == 1);
    CHECK(account.awards[0].cents == 6'000'12);  // a tenth of 60,001.17, rounded up to the cent
    CHECK(account.pool.unsettled() == 0);
}

TEST_CASE(
    "a 100 % jackpot pays the pool at its confirmation; later contributions belong to the next "
    "jackpot")
{
    Account account;
    account.move(Kind::Confirmed, 1, 60'000'00, bitOf(1), Tier::ThreeSevensDiamonds);
    account.move(Kind::Opened, 2, 60'001'17, bitOf(1));
    account.move(Kind::Settled, 1, 50'001'17);
    CHECK(account.mistakes.empty());
    REQUIRE(account.awards.size() == 1);
    CHECK(account.awards[0].cents == 60'000'00);
    CHECK(account.pool.isExact());
}

TEST_CASE("a wrong amount is reported once, and the accounts continue from there")
{
    Account account;
    account.move(Kind::Opened, 1, 60'001'16, bitOf(1));
    account.move(Kind::Opened, 2, 60'002'33, bitOf(1));
    account.move(Kind::Opened, 3, 60'003'51, bitOf(1));
    CHECK(account.mistakes.size() == 1);
}

TEST_CASE("displayed amounts narrow down a meter that is known to a cent")
{
    Account account;
    account.pool.begin(60'000'00, false, false);
    CHECK_FALSE(account.pool.isExact());
    account.move(Kind::Opened, 1, 60'001'18, bitOf(1));  // so the fraction was at least half a cent
    account.move(Kind::Opened, 2, 60'002'35, bitOf(1));
    CHECK(account.mistakes.empty());
    account.move(Kind::Opened, 3, 60'003'52, bitOf(1));  // the least possible amount is 60,003.53
    CHECK(account.mistakes.size() == 1);
}

TEST_CASE("a held jackpot does not change the meter, and the account continues after the ruling")
{
    Account account;
    account.pool.hold({0, 1});
    account.move(Kind::Confirmed, 1, 60'000'00, bitOf(1), Tier::ThreeSevensDiamonds);
    account.move(Kind::Opened, 2, 60'001'17, bitOf(1));
    CHECK(account.pool.unsettled() == 1);
    SUBCASE("the ruling was reported") {}
    SUBCASE("the ruling was not reported, and an amount shows it")
    {
        account.move(Kind::Opened, 3, 50'002'35, bitOf(1));
        CHECK_FALSE(account.pool.isChecked());
    }
    account.move(Kind::Settled, 1, 50'002'35);
    account.move(Kind::Opened, 4, 50'003'52, bitOf(1));
    CHECK(account.mistakes.empty());
    CHECK(account.awards.empty());
    CHECK(account.pool.unsettled() == 0);
    CHECK(account.pool.rulings() == 1);
    CHECK(account.pool.isChecked());
}

TEST_CASE("a void takes the meter below its minimum, and it is restored")
{
    Account account{0};
    account.move(Kind::Opened, 1, 60'002'35, bitOf(1) | bitOf(2));
    account.move(Kind::Confirmed, 1, 50'000'00, bitOf(1), Tier::ThreeSevensDiamonds);
    account.move(Kind::Opened, 2, 50'001'17, bitOf(1));
    account.move(Kind::Returned, 2, 50'000'00, bitOf(1));
    CHECK(account.mistakes.empty());
}

}  // namespace jackpot::floorsim
