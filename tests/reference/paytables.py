"""Cards and pay tables [rules: A round]."""

from collections import Counter

from money import CENT, DOLLAR

RANKS = "23456789TJQKA"
SUITS = "CDHS"
RED = "DH"

ALL = "100 %"
TENTH = "10 %"

# A tier pays a fixed amount, or one of the two parts of the jackpot.
# Blazing 7's (BJ 14.24), by wager.
BLAZING7S_PAYS = {
    250 * CENT: {
        "three_sevens_diamonds": ALL,
        "three_suited_sevens": TENTH,
        "three_same_colour_sevens": 1250 * DOLLAR,
        "three_sevens": 500 * DOLLAR,
        "two_player_sevens": 50 * DOLLAR,
        "one_each_sevens": 25 * DOLLAR,
    },
    500 * CENT: {
        "three_sevens_diamonds": ALL,
        "three_suited_sevens": TENTH,
        "three_same_colour_sevens": 2500 * DOLLAR,
        "three_sevens": 1000 * DOLLAR,
        "two_player_sevens": 100 * DOLLAR,
        "one_each_sevens": 50 * DOLLAR,
    },
}

# Ultimate Texas Hold'em (UTH 15.2.9).
UTH_PAYS = {
    "royal_flush": ALL,
    "straight_flush": TENTH,
    "four_of_a_kind": 500 * DOLLAR,
    "full_house": 150 * DOLLAR,
    "flush": 100 * DOLLAR,
}
UTH_GUARANTEES = {"royal_flush": 50_000 * DOLLAR, "straight_flush": 5_000 * DOLLAR}


def is_card(text):
    return len(text) == 2 and text[0] in RANKS and text[1] in SUITS


def blazing7s_tier(dealer, cards):
    """The highest tier of the player's two cards and the dealer's first, or None (BJ 14.24)."""
    player_sevens = [card for card in cards if card[0] == "7"]
    dealer_sevens = [card for card in [dealer] if card[0] == "7"]
    if len(player_sevens) == 2 and len(dealer_sevens) == 1:
        suits = [card[1] for card in player_sevens + dealer_sevens]
        if suits == ["D", "D", "D"]:
            return "three_sevens_diamonds"
        if len(set(suits)) == 1:
            return "three_suited_sevens"
        if len({suit in RED for suit in suits}) == 1:
            return "three_same_colour_sevens"
        return "three_sevens"
    if len(player_sevens) == 2:
        return "two_player_sevens"
    if len(player_sevens) == 1 and len(dealer_sevens) == 1:
        return "one_each_sevens"
    return None


def uth_tier(flop, cards):
    """The highest tier of the two hole cards and the flop, or None (UTH 15.2.9)."""
    five = flop + cards
    ranks = sorted(RANKS.index(card[0]) for card in five)
    suited = len({card[1] for card in five}) == 1
    ace_high_run = [8, 9, 10, 11, 12]  # T J Q K A
    ace_low_run = [0, 1, 2, 3, 12]  # 2 3 4 5 and the ace
    run = ranks == list(range(ranks[0], ranks[0] + 5)) or ranks == ace_low_run
    if suited and ranks == ace_high_run:
        return "royal_flush"
    if suited and run:
        return "straight_flush"
    times = sorted(Counter(ranks).values())
    if times == [1, 4]:
        return "four_of_a_kind"
    if times == [2, 3]:
        return "full_house"
    if suited:
        return "flush"
    return None
