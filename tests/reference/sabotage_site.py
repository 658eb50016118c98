"""Models with a fault in changes of parameters and of the site."""

from model import Model
from money import BadConfiguration, Refused
from scenario import shape_of_site, site_by_the_rules, table_by_the_rules


class ChangeInForceAtOnce(Model):
    """Agreed parameters do not wait for a reset."""

    def end_command(self):
        for pool in self.pools.values():
            pool.reset_since = pool.agreed is not None
        super().end_command()


class ResetBeforeAgreementCounts(Model):
    """A change that replaces another one takes over the reset that came before it."""

    def pool_change_agreed(self, event):
        before = self.pools[event["pool"]].reset_since
        super().pool_change_agreed(event)
        pool = self.pools[event["pool"]]
        pool.reset_since = before and pool.agreed is not None


class PresentValuesTakeNothingBack(Model):
    """An agreement on the present values leaves an earlier one as it is."""

    def pool_change_agreed(self, event):
        pool = self.pools[event["pool"]]
        before = pool.agreed
        super().pool_change_agreed(event)
        if pool.agreed is None and before is not None:
            pool.agreed = before


class AllOfThePoolPaysOldMinimumAgain(Model):
    """A new minimum is paid in whole, on top of the reset to the old one."""

    def note_change(self, pool, state):
        super().note_change(pool, state)
        if state == "in_force":
            self.pay_in(pool, pool.minimum)


class OpeningOfAPoolInPlayChecked(Model):
    """An amendment is refused for an opening amount that was of the past."""

    def site_configured(self, event):
        try:
            site_by_the_rules(*shape_of_site(event))
        except BadConfiguration:
            raise Refused("bad_configuration") from None
        super().site_configured(event)


class AgreedParametersNotNamed(Model):
    """An amendment that names parameters which are agreed and not in force is refused."""

    def site_configured(self, event):
        agreed = {pool: pool.agreed for pool in self.pools.values()}
        for pool in agreed:
            pool.agreed = None
        try:
            super().site_configured(event)
        finally:
            for pool, parameters in agreed.items():
                pool.agreed = parameters


class RefusedAmendmentAddsTables(Model):
    """A refused amendment adds its new tables all the same."""

    def site_configured(self, event):
        try:
            super().site_configured(event)
        except Refused:
            for shape in shape_of_site(event)[1]:
                if shape["id"] not in self.tables and shape["pool"] in self.pools:
                    self.tables[shape["id"]] = table_by_the_rules(
                        {**shape, "seats": 7, "wager": None}, "", self.pools)
            raise


class TablesInPlayChange(Model):
    """A table may change with a round open."""

    def site_configured(self, event):
        rounds = {table: table.current for table in self.tables.values()}
        for table, round in rounds.items():
            if round is not None and not round.result_in:
                table.current = None
        try:
            super().site_configured(event)
        finally:
            for table, round in rounds.items():
                table.current = round


class TablesWithALockedWinChange(Model):
    """A table may change while a win of it is locked."""

    def site_configured(self, event):
        locked = [win for pool in self.pools.values() for win in pool.wins if not win.due]
        for win in locked:
            win.due = True
        try:
            super().site_configured(event)
        finally:
            for win in locked:
                win.due = False


class ChangeWhileAWinIsDue(Model):
    """Agreed parameters come into force at a reset although a win is open that is due."""

    def end_command(self):
        due = [win for pool in self.pools.values() for win in pool.open_wins if win.due]
        for win in due:
            win.final = win.group.final = True
        super().end_command()
        for win in due:
            win.final = win.group.final = False


class NewMinimumNotPaidIn(Model):
    """The meter is left below the minimum of new parameters until its next change."""

    def pay_in(self, pool, amount):
        pass

    def check_books(self):
        pass
