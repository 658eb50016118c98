#include "tools/floorsim/books.h"

#include <doctest/doctest.h>

namespace jackpot::floorsim {
namespace {

constexpr std::int64_t kDollar = 100 * kUnitsPerCent;

using Kind = Movement::Kind;

struct Account {
    std::vector<std::string> mistakes;
    PoolAccount pool;
    std::uint64_t record = 0;

    explicit Account(std::int64_t openingDollars = 60'000, Game game = Game::BlazingSevens)
        : pool{termsOf(openingDollars, game),
               [this](std::string what) { mistakes.push_back(std::move(what)); }}
    {
        pool.begin(pool.terms().opening / kUnitsPerCent, true);
    }
    static PoolTerms termsOf(std::int64_t openingDollars, Game game)
    {
        PoolTerms terms;
        terms.id = "P";
        terms.game = game;
        terms.wagerCents = 500;
        terms.increment = 235'000;
        terms.minimum = 50'000 * kDollar;
        terms.opening = openingDollars * kDollar;
        terms.windowMs = 2000;
        terms.isAllOurs = true;
        return terms;
    }
    void move(Kind kind, RoundKey round, std::int64_t shownCents, SeatSet seats = 0,
              Tier tier = Tier::None)
    {
        Movement movement;
        movement.kind = kind;
        movement.record = ++record;
        movement.round = round;
        movement.shownCents = shownCents;
        if (kind == Kind::Confirmed)
            movement.standing = seats;
        else
            movement.seats = seats;
        for (Tier& each : movement.tiers) each = tier;
        pool.apply(movement);
    }
    void rule(Groups order, std::int64_t shownCents)
    {
        Movement movement;
        movement.kind = Kind::Ruled;
        movement.record = ++record;
        movement.shownCents = shownCents;
        movement.order = std::move(order);
        pool.apply(movement);
    }
    [[nodiscard]] std::int64_t centsOf(RoundKey round) const
    {
        REQUIRE(pool.wins().contains(round));
        REQUIRE(pool.wins().at(round).awards.size() == 1);
        return pool.wins().at(round).awards[0].cents;
    }
};

constexpr RoundKey kA1{0, 1};
constexpr RoundKey kA2{0, 2};
constexpr RoundKey kB1{1, 1};
constexpr RoundKey kC1{2, 1};

}  // namespace

TEST_CASE("a win takes its money at the button; later contributions belong to the next jackpot")
{
    Account account;
    account.move(Kind::Opened, kA1, 60'001'17, bitOf(1));
    SUBCASE("a tenth")
    {
        account.move(Kind::Confirmed, kA1, 54'001'05, bitOf(1), Tier::ThreeSuitedSevens);
        account.move(Kind::Opened, kA2, 54'002'23, bitOf(1));
        CHECK(account.centsOf(kA1) == 6'000'12);  // of 60,001.17, rounded up to the cent
    }
    SUBCASE("all of it")
    {
        account.move(Kind::Confirmed, kA1, 50'000'00, bitOf(1), Tier::ThreeSevensDiamonds);
        account.move(Kind::Opened, kA2, 50'001'17, bitOf(1));
        CHECK(account.centsOf(kA1) == 60'001'17);
    }
    CHECK(account.mistakes.empty());
    CHECK(account.pool.isExact());
}

TEST_CASE("a wrong amount is reported once, and the accounts continue from there")
{
    Account account;
    account.move(Kind::Opened, kA1, 60'001'16, bitOf(1));
    account.move(Kind::Opened, kA2, 60'002'33, bitOf(1));
    account.move(Kind::Opened, {0, 3}, 60'003'51, bitOf(1));
    CHECK(account.mistakes.size() == 1);
}

TEST_CASE("displayed amounts narrow down a meter that is known to a cent")
{
    Account account;
    account.pool.begin(60'000'00, false);
    CHECK_FALSE(account.pool.isExact());
    account.move(Kind::Opened, kA1, 60'001'18, bitOf(1));  // the fraction was half a cent or more
    account.move(Kind::Opened, kA2, 60'002'35, bitOf(1));
    CHECK(account.mistakes.empty());
    account.move(Kind::Opened, {0, 3}, 60'003'52, bitOf(1));  // at least 60,003.53 is possible
    CHECK(account.mistakes.size() == 1);
}

TEST_CASE("a ruling moves wins to another place, and everything since is computed anew")
{
    Account account{100'000};
    account.move(Kind::Confirmed, kA1, 90'000'00, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Confirmed, kB1, 50'000'00, bitOf(1), Tier::ThreeSevensDiamonds);
    CHECK(account.centsOf(kA1) == 10'000'00);
    CHECK(account.centsOf(kB1) == 90'000'00);
    SUBCASE("the other order")
    {
        // The 100 % win moves to its own arrival; the tenth is moved there, after it.
        account.rule({{kB1}, {kA1}}, 50'000'00);
        CHECK(account.centsOf(kB1) == 100'000'00);
        CHECK(account.centsOf(kA1) == 5'000'00);
    }
    SUBCASE("at the same time")
    {
        account.rule({{kA1, kB1}}, 50'000'00);
        CHECK(account.centsOf(kA1) == 10'000'00);
        CHECK(account.centsOf(kB1) == 90'000'00);
    }
    CHECK(account.mistakes.empty());
    CHECK(account.pool.rulings() == 1);
}

TEST_CASE("two tenths at the same time share two successive tenths (BJ 14.27.2)")
{
    Account account{100'000};
    account.move(Kind::Confirmed, kA1, 90'000'00, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Confirmed, kB1, 81'000'00, bitOf(1), Tier::ThreeSuitedSevens);
    account.rule({{kA1, kB1}}, 81'000'00);
    CHECK(account.centsOf(kA1) == 9'500'00);
    CHECK(account.centsOf(kB1) == 9'500'00);
    CHECK(account.mistakes.empty());
}

TEST_CASE("a win that is dropped leaves what the others would have had without it")
{
    Account account{100'000};
    account.move(Kind::Opened, kA1, 100'001'17, bitOf(1));
    account.move(Kind::Confirmed, kA1, 90'001'05, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Confirmed, kB1, 81'000'95, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Changed, kA1, 89'999'88, bitOf(1));  // its wager is returned
    CHECK(account.mistakes.empty());
    CHECK_FALSE(account.pool.wins().contains(kA1));
    CHECK(account.centsOf(kB1) == 10'000'12);
}

TEST_CASE("a final win never changes, and stays in what is computed anew")
{
    Account account{100'000};
    account.move(Kind::Confirmed, kA1, 90'000'00, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Confirmed, kB1, 81'000'00, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Confirmed, kC1, 72'900'00, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Final, kB1, 72'900'00);
    account.move(Kind::Changed, kA1, 81'900'00, 0);
    CHECK(account.mistakes.empty());
    CHECK(account.centsOf(kB1) == 9'000'00);
    CHECK(account.centsOf(kC1) == 9'100'00);  // of 91,000.00
}

TEST_CASE("a void takes the meter below its minimum, and it is restored")
{
    Account account;
    account.move(Kind::Opened, kA1, 60'002'35, static_cast<SeatSet>(bitOf(1) | bitOf(2)));
    account.move(Kind::Confirmed, kA1, 50'000'00, bitOf(1), Tier::ThreeSevensDiamonds);
    account.move(Kind::Opened, kA2, 50'001'17, bitOf(1));
    account.move(Kind::Changed, kA2, 50'000'00, bitOf(1));
    CHECK(account.mistakes.empty());
}

TEST_CASE("after a ruling of unknown order the account continues from the amount shown")
{
    Account account;
    account.move(Kind::Confirmed, kA1, 54'000'00, bitOf(1), Tier::ThreeSuitedSevens);
    account.move(Kind::Ruling, kA1, 53'000'00);
    account.move(Kind::Opened, kA2, 53'001'17, bitOf(1));
    CHECK(account.mistakes.empty());
    CHECK(account.pool.isChecked());
    CHECK_FALSE(account.pool.isExact());
}

}  // namespace jackpot::floorsim
