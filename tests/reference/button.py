"""The button, races for it and rulings, for the generator of scenarios."""


class Button:
    """The part of the generator for confirmations, holds and rulings."""

    def tables_with_claim(self):
        return [table for table in self.tables if table.current is not None
                and table.current.is_open and table.current.has_unconfirmed_claim]

    def confirm(self):
        candidates = self.tables_with_claim()
        if not candidates or self.chance(self.faults / 2):
            if self.chance(0.7):
                return self.play()
            table = self.random.choice(self.tables)
            number = self.number_of(table) + self.random.choice([-1, 0, 0, 0, 1])
            return self.add("jackpot_confirmed", table=table.id, round=max(1, number))
        self.random.shuffle(candidates)
        for table in candidates if self.chance(0.5) else candidates[:1]:
            number = self.number_of(table)
            if len(table.current.claims) > 1 and self.chance(0.15):
                seat = self.random.choice(list(table.current.claims))
                self.add("wager_voided", table=table.id, round=number, seat=seat,
                         ground="invalid_wager", **self.people(1))
            self.press_button(table)
            if self.chance(0.05):
                self.add("jackpot_confirmed", table=table.id, round=number)  # pressed twice

    def press(self, table):
        """When a confirmation arrives, and how long after its press."""
        if self.chance(0.4):
            return {}
        pool = table.pool
        if self.chance(0.15):  # about when its round was opened: just possible, or impossible
            arrives = self.now + self.random.choice([0, 1, 30])
            press = table.current.opened_ms + self.random.choice([-1, -1, 0, -2000])
            return {"at_ms": arrives, "pressed_ago_ms": max(arrives - press, 0)}
        others = [win for win in pool.wins if win.table is not table]
        if others and self.chance(0.85):
            # So far from another press as to be just inside the window, at its edge or outside.
            window = pool.window_ms
            apart = self.random.choice([window - 1, window, window, window + 1, 1, 0])
            other = self.random.choice(others)
            press = self.random.choice([other.pressed_from, other.pressed_to])
            press += apart * self.random.choice([1, -1])
            arrives = self.now + self.random.choice([0, 0, 1, 30])
            if self.chance(0.8):
                press = max(press, table.current.opened_ms)
            if press <= arrives:
                return {"at_ms": arrives, "pressed_ago_ms": arrives - press}
        age = self.random.choice([0, 1, 100, pool.window_ms, self.random.randint(0, 9000)])
        if self.chance(0.9):
            age = min(age, self.now - table.current.opened_ms)
        return {"at_ms": self.now, "pressed_ago_ms": age}

    def press_button(self, table):
        if table.current is not None and table.current.is_open \
                and table.current.has_unconfirmed_claim:
            self.add("jackpot_confirmed", table=table.id, round=table.current.number,
                     **self.press(table))

    def press_with(self, table, other, at_ms=None):
        """The button of a table, pressed within the window of another win."""
        if table not in self.tables_with_claim():
            return
        press = other.pressed_to - self.random.choice([0, 1, 300])
        if self.chance(0.8):
            press = max(press, table.current.opened_ms)
        arrives = at_ms or self.now + self.random.choice([0, 1, 30])
        self.add("jackpot_confirmed", arrives, table=table.id, round=table.current.number,
                 pressed_ago_ms=max(arrives - press, 0))

    # -- plots ------------------------------------------------------------------------------------

    def rivals(self, number=2):
        """Some tables of one pool; after some play, if no pool has as many."""
        pools = [pool for pool in self.pools
                 if sum(table.pool is pool for table in self.tables) >= number]
        if not pools:
            self.play()
            return []
        blazing7s = [pool for pool in pools if pool.game == "blazing7s"]
        pool = self.random.choice(blazing7s if blazing7s and self.chance(0.6) else pools)
        tables = [table for table in self.tables if table.pool is pool]
        self.random.shuffle(tables)
        return tables[: self.random.randint(number, 4)]

    def bring_to_claim(self, table):
        """To an unconfirmed claim, as far as nothing is in the way."""
        if table.suspended_by:
            self.resume(table)
        current = table.current
        if current is None or not current.is_open or (
                current.result_in and not current.has_unconfirmed_claim):
            self.open_round(table)
        if table.current and not table.current.result_in and table.current.is_open:
            self.report_result(table, jackpot=True)

    def race(self):
        """Several tables of a pool win at nearly the same time; some of them may be offline."""
        tables = self.rivals()
        for table in tables:
            self.bring_to_claim(table)
        if tables and self.chance(0.25):
            lost = tables.pop()  # its confirmation will come late, or never
            if not lost.offline:
                self.add("table_offline", table=lost.id)
        for table in tables:
            self.press_button(table)
        if tables and tables[0].pool.holds and self.chance(0.3):
            win = self.random.choice(self.random.choice(tables[0].pool.holds).wins)
            self.void_win(win)

    def hold_for_offline(self):
        """A table wins several times while another is offline in the middle of a round."""
        tables = self.rivals()
        if not tables:
            return
        winner, lost = tables[:2]
        pool = winner.pool
        if self.chance(0.5):
            self.bring_to_claim(lost)
        elif lost.current is None or not lost.current.is_open or lost.current.result_in:
            self.open_round(lost)
        if not lost.offline:
            self.add("table_offline", table=lost.id)
        for _ in range(self.random.randint(1, 3)):
            self.bring_to_claim(winner)
            self.press_button(winner)
            if self.chance(0.7):
                self.open_round(winner, at_ms=self.now + pool.settle_after_ms)
        if self.chance(0.5) and lost.offline:
            self.add("table_online", table=lost.id)
            if self.chance(0.5):
                self.press_button(lost)
        if pool.holds and self.chance(0.5):
            self.void_win(self.random.choice(self.random.choice(pool.holds).wins))

    def hold_again(self):
        """Two wins are ruled on; then a late press holds them again, and perhaps goes away."""
        tables = self.rivals(3)
        if not tables:
            return
        for table in tables[:3]:
            self.bring_to_claim(table)
        if not all(table in self.tables_with_claim() for table in tables[:3]):
            return
        first, second, late = tables[:3]
        pool = first.pool
        self.press_button(first)
        if not first.current.has_open_win:
            return
        self.press_with(second, first.current.win)
        if first.current.has_open_win and first.current.win.hold is not None:
            self.rule_on(pool, first.current.win.hold)
        if self.chance(0.3):
            self.pay_award(first.current)
        if first.current.has_open_win:
            self.press_with(late, first.current.win)
        if self.chance(0.2):
            self.pay_award(second.current)
        if late.current.has_open_win and self.chance(0.7):
            if self.chance(0.3):
                self.lose_link(pool, [first, second, late])
            self.void_win(late.current.win)
            if self.chance(0.5):  # the first of them is due before the second
                at_ms = self.now
                if first.current.has_open_win:
                    at_ms = max(at_ms, first.current.win.arrived_ms + pool.settle_after_ms)
                self.pay_award(first.current, at_ms)
        elif first.current.has_open_win and first.current.win.hold and self.chance(0.7):
            self.rule_on(pool, first.current.win.hold)

    def rule_twice(self):
        """A ruling moves groups to one place; the next round of one of them brings a second one."""
        tables = self.rivals(3)
        for table in tables[:3]:
            self.bring_to_claim(table)
        if not tables or not all(table in self.tables_with_claim() for table in tables[:3]):
            return
        first, second, last = tables[:3]
        self.press_button(first)
        for table in (second, last):
            if first.current.has_open_win:
                self.press_with(table, first.current.win)
        rounds = [table.current for table in (last, first, second)]
        if not all(round.has_open_win and round.win.hold for round in rounds):
            return
        self.bring_to_claim(first)
        order = [[[round.table.id, round.number]] for round in rounds]
        self.add("surveillance_ruling", pool=first.pool.id, order=order, by="s1")
        self.press_with(first, rounds[0].win)
        if first.current.has_open_win and first.current.win.hold is not None:
            wins = sorted(first.current.win.hold.wins, key=lambda win: win.table is not last)
            order = [[[win.table.id, win.round.number]] for win in wins]
            self.add("surveillance_ruling", pool=first.pool.id, order=order, by="s1")

    def lose_link(self, pool, winners):
        """Another table of the pool goes offline with a round that can still win."""
        others = [table for table in self.tables if table.pool is pool and table not in winners]
        if not others:
            return
        table = others[0]
        if table.current is None or not table.current.is_open or table.current.result_in:
            self.open_round(table, at_ms=self.now)
        if not table.offline:
            self.add("table_offline", self.now, table=table.id)

    def late_after_payment(self):
        """A win is due and paid; then another table's press comes late."""
        tables = self.rivals()
        if not tables:
            return
        winner, late = tables[:2]
        self.bring_to_claim(late)
        self.bring_to_claim(winner)
        self.press_button(winner)
        current = winner.current
        if current is None or not current.has_open_win:
            return
        if self.chance(0.9):
            self.now += winner.pool.settle_after_ms
        self.pay_award(current)
        if current.win is not None:
            self.press_with(late, current.win)

    def win_again_and_again(self):
        """A table has 8 open wins and opens another round."""
        table = self.random.choice(self.tables)
        for _ in range(9):
            self.bring_to_claim(table)
            if table in self.tables_with_claim():
                self.add("jackpot_confirmed", table=table.id, round=table.current.number)

    # -- rulings ----------------------------------------------------------------------------------

    def rule(self):
        pools = [pool for pool in self.pools if pool.holds]
        if not pools or self.chance(self.faults / 4):
            if self.chance(0.9):
                return self.play()
            return self.rule_on(self.random.choice(self.pools), None)
        if self.chance(0.2):
            return self.play()  # Surveillance takes its time
        pool = self.random.choice(pools)
        return self.rule_on(pool, self.random.choice(pool.holds))

    def rule_on(self, pool, hold):
        order = self.order_held(pool, hold) if hold else []
        if self.chance(max(self.faults, 0.2)):
            self.spoil_order(pool, order)
        self.add("surveillance_ruling", pool=pool.id, order=order, **self.people(1))

    def order_held(self, pool, hold):
        order = []
        held = list(hold.wins)
        self.random.shuffle(held)
        together = 0 if pool.game == "uth" else self.random.choice([0.2, 0.6, 1])
        for win in held:
            free = [group for group in order if win.table.id not in [table for table, _ in group]]
            if free and self.chance(together):
                self.random.choice(free).append([win.table.id, win.round.number])
            else:
                order.append([[win.table.id, win.round.number]])
        return order

    def spoil_order(self, pool, order):
        fault = self.random.randrange(8)
        if fault == 0 or not order:
            order.insert(self.random.randint(0, len(order)), [])
        elif fault == 1:
            self.random.choice(order).pop()
        elif fault == 2:
            self.random.choice(order).append(list(self.random.choice(order)[0]))
        elif fault == 3:
            others = [[win.table.id, win.round.number] for win in pool.open_wins]
            others += [["nowhere", 1], [self.tables[0].id, 9999]]
            order.append([self.random.choice(others)])
        elif fault == 4:
            order.clear()
        elif fault == 5:
            self.random.choice(order)[0][1] += 1
        elif fault == 6 and len(pool.holds) > 1:  # two holds in one ruling
            order += [[[win.table.id, win.round.number]] for hold in pool.holds for win in hold.wins
                      if [win.table.id, win.round.number] not in
                      [item for group in order for item in group]]
        else:  # all in one group, whether or not a table is there twice
            order[:] = [[item for group in order for item in group]]
