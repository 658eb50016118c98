#include "rules/pool_ledger.h"

namespace jackpot::rules {

void PoolLedger::open(Money amount)
{
    pool_.meter += amount;
    pool_.totals.seeded += amount;
    post(Cause::Seed, Account::House, -amount);
    post(Cause::Seed, Account::Meter, amount);
}

void PoolLedger::takeWagers(Money stakes, Money toMeter, Money toReserve)
{
    outcome_.postings.reserve(5);
    post(Cause::Wager, Account::Players, -stakes);
    post(Cause::Wager, Account::House, stakes);

    const Money contributed = toMeter + toReserve;
    pool_.totals.contributed += contributed;
    pool_.reserve += toReserve;
    changeMeter(toMeter);
    post(Cause::Contribution, Account::House, -contributed);
    post(Cause::Contribution, Account::Meter, toMeter);
    post(Cause::Contribution, Account::Reserve, toReserve);
}

void PoolLedger::returnWagers(Money stakes, Money fromMeter, Money fromReserve)
{
    post(Cause::Refund, Account::House, -stakes);
    post(Cause::Refund, Account::Players, stakes);

    if (pool_.reserve < fromReserve) {
        const Money missing = fromReserve - pool_.reserve;
        pool_.reserve += missing;
        pool_.totals.seeded += missing;
        post(Cause::MakeGood, Account::House, -missing);
        post(Cause::MakeGood, Account::Reserve, missing);
    }
    const Money returned = fromMeter + fromReserve;
    pool_.totals.returned += returned;
    pool_.reserve -= fromReserve;
    changeMeter(-fromMeter);
    post(Cause::Return, Account::Meter, -fromMeter);
    post(Cause::Return, Account::Reserve, -fromReserve);
    post(Cause::Return, Account::House, returned);
}

void PoolLedger::adjust(Money amount)
{
    pool_.totals.adjusted += amount;
    changeMeter(amount);
    post(Cause::Adjustment, Account::House, -amount);
    post(Cause::Adjustment, Account::Meter, amount);
}

void PoolLedger::payByHouse(Money amount)
{
    pool_.totals.paidByHouse += amount;
    post(Cause::Award, Account::House, -amount);
    post(Cause::Award, Account::Players, amount);
}

void PoolLedger::withdraw(Money amount)
{
    pool_.totals.paidByHouse -= amount;
    post(Cause::Withdrawal, Account::Players, -amount);
    post(Cause::Withdrawal, Account::House, amount);
}

void PoolLedger::changeAwards(Money players, Money fromPool)
{
    const Money byHouse = players - fromPool;
    const Cause cause = players.isNegative() ? Cause::Withdrawal : Cause::Award;
    pool_.meter -= fromPool;
    pool_.totals.paidFromPool += fromPool;
    pool_.totals.paidByHouse += byHouse;
    post(cause, Account::Meter, -fromPool);
    post(cause, Account::House, -byHouse);
    post(cause, Account::Players, players);
}

void PoolLedger::resetTo(Money target)
{
    const Money missing = target - pool_.meter;
    if (missing > Money{}) pool_.noteReset();
    const Money fromReserve = std::min(pool_.reserve, missing);
    const Money fromHouse = missing - fromReserve;
    pool_.meter = target;
    pool_.reserve -= fromReserve;
    pool_.totals.fromReserve += fromReserve;
    pool_.totals.seeded += fromHouse;
    post(Cause::FromReserve, Account::Reserve, -fromReserve);
    post(Cause::FromReserve, Account::Meter, fromReserve);
    post(Cause::Seed, Account::House, -fromHouse);
    post(Cause::Seed, Account::Meter, fromHouse);
}

void PoolLedger::restoreMinimum()
{
    if (pool_.displayed() < pool_.config.minimum) resetTo(pool_.config.minimum);
}

void PoolLedger::changeMeter(Money amount)
{
    pool_.meter += amount;
    if (!pool_.places.empty()) pool_.places.back().since.then(amount, pool_.config.minimum);
}

void PoolLedger::post(Cause cause, Account account, Money amount)
{
    if (amount != Money{}) outcome_.postings.push_back({cause, account, index_, amount});
}

}  // namespace jackpot::rules
