"""The state of the floor."""

from dataclasses import dataclass, field

PARAMETERS = ("increment", "reserve_increment", "minimum", "cap", "payout_unit", "window_ms",
              "settle_after_ms", "bonus", "guarantee")
OPTIONAL_PARAMETERS = ("reserve_increment", "cap", "payout_unit", "simultaneity_window_ms",
                       "settle_after_ms", "bonus", "guarantee")


@dataclass(eq=False)
class Change:
    """One entry in the list of everything that has happened to a pool's meter."""

    what: str  # contribution, return, adjustment; an arrival changes nothing by itself
    amount: int = 0  # what it adds to the meter


@dataclass(eq=False)
class Group:
    """Wins that are settled together. One that was never ruled on is a group by itself."""

    place: tuple  # see Wins.place
    wins: list
    final: bool = False
    paid: list = field(default_factory=list)  # by the pool, step by step
    by_house: int = 0  # bonuses, and what rounding and guarantees add


@dataclass(eq=False)
class Win:
    """A confirmed round with claims."""

    round: "Round"
    arrival: int  # its place in the pool's history
    arrived_ms: int
    pressed_from: int  # the first and the last time at which the button can have been pressed
    pressed_to: int
    number: int  # of all confirmations, over all pools
    group: Group | None = None
    due: bool = False
    final: bool = False
    hold: "Hold | None" = None
    reason_of_its_own: str = ""  # impossible or offline: what only a ruling settles
    awards: list = field(default_factory=list)  # Share, in the order of payment
    shown: dict = field(default_factory=dict)  # (seat, tier) -> amount that is due

    @property
    def table(self):
        return self.round.table


@dataclass(eq=False)
class Share:
    """An award of a win as it was last computed."""

    win: Win
    seat: int
    tier: str
    amount: int
    step: int  # 1 bonus, 2 the 10 % tier, 3 the 100 % tier


@dataclass(eq=False)
class Hold:
    """Wins that wait for one ruling together."""

    wins: list


@dataclass(eq=False)
class Award:
    """What is known of an award for payments: by table, round, seat and tier."""

    due: int = 0
    is_due: bool = False
    was_due: bool = False
    withheld: bool = False
    payments: list = field(default_factory=list)


@dataclass(eq=False)
class Pool:
    id: str
    game: str
    wager: int
    opening: int  # what its history begins with
    increment: int
    reserve_increment: int
    minimum: int
    cap: int | None
    payout_unit: int
    window_ms: int
    settle_after_ms: int
    bonus: dict
    guarantee: dict
    pays: dict
    suspended: bool = False
    # The accounts.
    meter: int = 0
    reserve: int = 0
    seeded: int = 0
    contributed: int = 0
    returned: int = 0
    from_reserve: int = 0
    paid_from_pool: int = 0
    paid_by_house: int = 0
    adjusted: int = 0
    # Everything since it opened (or since its parameters changed), and what resets were in sum.
    history: list = field(default_factory=list)
    resets: int = 0
    groups: list = field(default_factory=list)
    groups_from_pool: int = 0  # what the groups were last computed to be paid
    groups_by_house: int = 0
    holds: list = field(default_factory=list)
    rulings: int = 0
    order_of_payment: list = field(default_factory=list)  # Share
    # Parameters that two people agreed on, and whether the pool was reset since.
    agreed: dict | None = None
    reset_since: bool = False

    @property
    def parameters(self):
        return {name: getattr(self, name) for name in PARAMETERS}

    @property
    def decks(self):
        return 6 if self.game == "blazing7s" else 1

    @property
    def board_size(self):
        return 1 if self.game == "blazing7s" else 3

    @property
    def wins(self):
        """All wins, open and final, in the order of their arrival."""
        wins = [win for group in self.groups for win in group.wins]
        return sorted(wins, key=lambda win: win.number)

    @property
    def open_wins(self):
        return [win for win in self.wins if not win.final]


@dataclass(eq=False)
class Table:
    id: str
    pool: Pool
    seats: int
    require_player_card: bool
    stated_wager: int | None
    suspended_by: str = ""  # table or desk
    offline: bool = False
    current: "Round | None" = None
    rounds: dict = field(default_factory=dict)  # by number

    @property
    def configured(self):
        return self.seats, self.require_player_card, self.stated_wager

    @property
    def open_wins(self):
        return [win for win in self.pool.open_wins if win.table is self]

    @property
    def in_play(self):
        """A round without result, a claim without confirmation, or a win that is not due."""
        current = self.current
        if current is not None and current.is_open:
            if not current.result_in or current.has_unconfirmed_claim:
                return True
        return any(win.table is self and not win.due for win in self.pool.wins)


@dataclass(eq=False)
class Wager:
    to_meter: int  # its contribution exactly as it was posted
    to_reserve: int


@dataclass(eq=False)
class Round:
    table: Table
    number: int
    opened_ms: int
    wagers: dict  # seat -> Wager; a wager that is returned is removed
    result_in: bool = False
    voided: bool = False
    closed: bool = False
    fixed: dict = field(default_factory=dict)  # seat -> (tier, amount): fixed awards that are due
    claims: dict = field(default_factory=dict)  # seat -> tier: jackpots
    win: Win | None = None  # since its confirmation

    @property
    def is_open(self):
        return not self.voided and not self.closed

    @property
    def has_open_win(self):
        return self.win is not None and not self.win.final

    @property
    def has_final_win(self):
        return self.win is not None and self.win.final

    @property
    def has_unconfirmed_claim(self):
        return bool(self.claims) and self.win is None
