"""The state of the floor."""

from dataclasses import dataclass, field

PARAMETERS = ("increment", "reserve_increment", "minimum", "cap", "payout_unit", "window_ms",
              "bonus")
OPTIONAL_PARAMETERS = ("reserve_increment", "cap", "payout_unit", "simultaneity_window_ms", "bonus")


@dataclass(eq=False)
class Change:
    """One entry in the list of everything that has happened to a pool's meter since it opened."""

    at_ms: int
    what: str  # contribution, return, adjustment, settlement; a confirmation changes nothing
    amount: int = 0  # what it adds to the meter
    round: "Round | None" = None  # of a confirmation


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
    bonus: dict
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
    # The meter's history, and the confirmed rounds that are not settled yet.
    history: list = field(default_factory=list)
    waiting: list = field(default_factory=list)  # for the end of their window
    held: list = field(default_factory=list)  # for a ruling
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


@dataclass(eq=False)
class Table:
    id: str
    pool: Pool
    seats: int
    require_player_card: bool
    stated_wager: int | None
    suspended: bool = False
    offline: bool = False
    current: "Round | None" = None

    @property
    def configured(self):
        return self.seats, self.require_player_card, self.stated_wager

    @property
    def in_play(self):
        """A round without result, or a jackpot that is not settled."""
        current = self.current
        if current is not None and not current.voided:
            if not current.result_in or (current.claims and not current.settled):
                return True
        return any(round.table is self for round in self.pool.waiting + self.pool.held)


@dataclass(eq=False)
class Wager:
    to_meter: int  # its contribution exactly as it was posted
    to_reserve: int


@dataclass(eq=False)
class Round:
    table: Table
    number: int
    wagers: dict  # seat -> Wager; a wager that is returned is removed
    result_in: bool = False
    voided: bool = False
    fixed: dict = field(default_factory=dict)  # seat -> (tier, amount): fixed awards that are due
    claims: dict = field(default_factory=dict)  # seat -> tier: jackpots
    confirmed_at: int | None = None  # when the confirmation arrived
    pressed_at: int | None = None  # when the button was pressed
    arrival: int | None = None  # the how-manieth confirmation it was
    settled: bool = False  # its jackpots were paid
    held_for_offline: bool = False  # until a ruling, whatever becomes of the table that was offline

    @property
    def has_unconfirmed_claim(self):
        return bool(self.claims) and self.confirmed_at is None
