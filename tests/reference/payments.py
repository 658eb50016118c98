"""Awards as people pay and withhold them [rules: Irregularities: Payments, Withheld]."""

from irregularities import people_of
from money import Refused, read_money, write_money
from state import Award


class Payments:
    """The part of the model that knows awards by table, round, seat and tier."""

    def award_of(self, round, seat, tier):
        return self.awards.setdefault((round.table.id, round.number, seat, tier), Award())

    def named_award(self, round, seat, tier, amount):
        return {"table": round.table.id, "round": round.number, "seat": seat, "tier": tier,
                "amount": write_money(amount, 2)}

    def pay(self, round, seat, tier, amount):
        """An award becomes due."""
        self.payouts.append(self.named_award(round, seat, tier, amount))
        award = self.award_of(round, seat, tier)
        award.due, award.is_due, award.was_due = amount, True, True
        self.occurred[f"tier {tier}"] += 1

    def withdraw(self, round, seat, tier, amount):
        """An award was due and no longer is. A withdrawal ends a withholding."""
        self.withdrawn.append(self.named_award(round, seat, tier, amount))
        award = self.award_of(round, seat, tier)
        if award.payments:
            self.occurred["paid award withdrawn"] += 1
        if award.withheld:
            self.occurred["withheld award withdrawn"] += 1
        award.due, award.is_due, award.withheld = 0, False, False

    def withdraw_fixed(self, round, seats):
        """Withdrawals of fixed awards, seat by seat from 1 up."""
        for seat in sorted(seats):
            tier, amount = round.fixed.pop(seat)
            self.withdraw(round, seat, tier, amount)
            round.table.pool.paid_by_house -= amount
            self.occurred["fixed award withdrawn"] += 1

    def touched_by_people(self, round, seat=None):
        """Whether an award of the round (or of that seat in it) has a recorded payment, also one
        that was withdrawn since, or is withheld."""
        return any(
            (award.payments or award.withheld) and tier != "none"
            for (table, number, at_seat, tier), award in self.awards.items()
            if (table, number) == (round.table.id, round.number) and seat in (None, at_seat)
        )

    # -- events -----------------------------------------------------------------------------------

    def payment_recorded(self, event):
        if not people_of(event):
            raise Refused("needs_supervisor")
        key = (event["table"], event["round"], event["seat"], event.get("tier", "none"))
        if "tier" in event:
            award = self.find_award(event)
            if not award.was_due:
                raise Refused("award_not_due")
            if award.withheld:
                raise Refused("award_withheld")
        else:
            award = self.awards.setdefault(key, Award())
        if award.payments:
            self.occurred["payment rectified"] += 1
        if not award.is_due:
            self.occurred["payment without an award" if "tier" not in event
                          else "payment of a withdrawn award"] += 1
        award.payments.append(read_money(event["paid"], "paid", signed=True))
        self.make_final_what_is_paid(self.tables[event["table"]].pool)

    def find_award(self, event):
        key = (event["table"], event["round"], event["seat"], event["tier"])
        if event["tier"] == "none" or key not in self.awards:
            raise Refused("no_such_award")
        return self.awards[key]

    def find_due_award(self, event):
        award = self.find_award(event)
        if len(people_of(event)) < 2:
            raise Refused("needs_two_people")
        if not award.is_due:
            raise Refused("award_not_due")
        return award

    def award_withheld(self, event):
        award = self.find_due_award(event)
        if award.payments:
            raise Refused("award_paid")
        if award.withheld:
            raise Refused("award_withheld")
        award.withheld = True
        self.make_final_what_is_paid(self.tables[event["table"]].pool)

    def award_released(self, event):
        award = self.find_due_award(event)
        if not award.withheld:
            raise Refused("not_withheld")
        award.withheld = False

    # -- [FORMAT: Outcome] ------------------------------------------------------------------------

    def differences(self):
        """Where payments were recorded and their sum is not what is due."""
        return [
            {"table": table, "round": number, "seat": seat, "tier": tier,
             "due": write_money(award.due, 2), "paid": write_money(sum(award.payments), 2)}
            for (table, number, seat, tier), award in sorted(self.awards.items(),
                                                             key=lambda item: item[0])
            if award.payments and sum(award.payments) != award.due
        ]
