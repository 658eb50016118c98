"""Changes to a site in play [decisions 4]."""

from irregularities import people_of
from money import BadConfiguration, Refused
from scenario import (check_windows, parameters_by_the_rules, shape_of_parameters, shape_of_site,
                      site_by_the_rules)


class Changes:
    """The part of the model for changes of parameters and of the site."""

    def pool_change_agreed(self, event):
        """Two people agree on the parameters from the next reset on; the present ones take back
        what was agreed. What was agreed before is replaced, and its reset forgotten."""
        pool = self.pools[event["pool"]]
        if len(people_of(event)) < 2:
            raise Refused("needs_two_people")
        if not event.get("reason"):
            raise Refused("needs_reason")
        values = shape_of_parameters(event["to"], "to")
        try:
            values = parameters_by_the_rules(values, pool.game, values["minimum"], "to")
            check_windows({pool.id: values}, [table.pool.id for table in self.tables.values()])
        except BadConfiguration:
            raise Refused("bad_configuration") from None
        if values != pool.parameters:
            if pool.agreed is not None:
                self.occurred["change of parameters replaced"] += 1
            pool.agreed = values
            self.note_change(pool, "agreed")
        elif pool.agreed is not None:
            pool.agreed = None
            self.note_change(pool, "taken_back")
        pool.reset_since = False

    def note_change(self, pool, state):
        self.changes.append({"at_ms": self.now, "pool": pool.id, "state": state})
        self.occurred[f"parameters {state}"] += 1

    def note_reset(self, pool):
        """Money was put in to restore the minimum."""
        if pool.agreed is not None:
            pool.reset_since = True
            if pool.open_wins:
                self.occurred["reset while parameters are agreed and a win is open"] += 1

    def end_command(self):
        """[rules: Irregularities] A change of a pool's parameters waits for its next reset and
        until it has no open win."""
        for pool in self.pools.values():
            if pool.agreed is None or not pool.reset_since or pool.open_wins:
                continue
            if pool.agreed["minimum"] > pool.minimum:
                self.occurred["minimum raised by new parameters"] += 1
            # No win goes back behind this moment: none is open.
            self.past_wins.setdefault(pool.id, []).extend(pool.wins)
            pool.opening, pool.history, pool.resets = pool.meter, [], 0
            pool.groups, pool.groups_from_pool, pool.groups_by_house = [], 0, 0
            pool.order_of_payment = []
            for name, value in pool.agreed.items():
                setattr(pool, name, value)
            pool.agreed = None
            pool.reset_since = False
            self.note_change(pool, "in_force")
            self.pay_in(pool, self.restored(pool, pool.meter) - pool.meter)

    def pay_in(self, pool, amount):
        """A higher minimum is paid in like any reset; it is where the new history begins."""
        pool.meter += amount
        pool.opening = pool.meter
        self.post_resets(pool, amount)

    def site_configured(self, event):
        """The whole site as it shall be: all of it or nothing."""
        pool_shapes, table_shapes = shape_of_site(event)
        for shape in pool_shapes:
            if shape["id"] in self.pools:
                shape["opening"] = None  # it opened long ago
        try:
            pools, tables = site_by_the_rules(pool_shapes, table_shapes)
            for pool in self.pools.values():  # both what is in force and what is agreed
                for parameters in (pool.parameters, pool.agreed or pool.parameters):
                    check_windows({pool.id: parameters}, [shape["pool"] for shape in table_shapes])
        except BadConfiguration:
            raise Refused("bad_configuration") from None
        for pool in self.pools.values():
            given = pools.get(pool.id)
            if given is None or (given.game, given.wager) != (pool.game, pool.wager):
                raise Refused("bad_configuration")
            if given.parameters not in (pool.parameters, pool.agreed):
                raise Refused("bad_configuration")
        for table in self.tables.values():
            given = tables.get(table.id)
            if given is None or given.pool.id != table.pool.id:
                raise Refused("bad_configuration")
            if given.configured != table.configured and table.in_play:
                self.occurred["change of a table in play refused"] += 1
                raise Refused("bad_configuration")
        self.amend(pools, tables)

    def amend(self, pools, tables):
        for pool in pools.values():
            if pool.id not in self.pools:
                self.pools[pool.id] = pool
                self.occurred["pool added"] += 1
        for table in tables.values():
            if table.id not in self.tables:
                table.pool = self.pools[table.pool.id]
                self.tables[table.id] = table
                self.occurred["table added"] += 1
                continue
            known = self.tables[table.id]
            if known.configured != table.configured:
                self.occurred["table changed"] += 1
            known.seats, known.require_player_card, known.stated_wager = table.configured
