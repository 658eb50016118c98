"""Money and rates [rules: Money], and the errors of a scenario."""

import re

DOLLAR = 10**8  # in units
CENT = 10**6
RATE_ONE = 10**6  # rates are in parts per million
INT64_MAX = 2**63 - 1
LARGEST_AMOUNT = 10_000_000_000 * DOLLAR


class Malformed(Exception):
    """The scenario is not run: exit status 2."""


class BadConfiguration(Malformed):
    """The site is well formed and breaks a rule; of an amendment in play it is a refusal."""


class Refused(Exception):
    """An event is refused; it changes nothing."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


def read_decimal(text, places, where, signed=False):
    """A decimal string as an integer number of 10**-places."""
    if type(text) is not str:
        raise Malformed(f"{where}: a decimal string is needed")
    match = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?", text)
    if not match or (match[1] and not signed):
        raise Malformed(f"{where}: {text!r} is not a decimal number")
    fraction = match[3] or ""
    if len(fraction) > places:
        raise Malformed(f"{where}: {text!r} has more than {places} decimal places")
    value = int(match[2] + fraction.ljust(places, "0"))
    if value > INT64_MAX:
        raise Malformed(f"{where}: {text!r} does not fit")
    return -value if match[1] else value


def read_money(text, where, signed=False):
    amount = read_decimal(text, 8, where, signed)
    if abs(amount) > LARGEST_AMOUNT:
        raise Malformed(f"{where}: {text!r} is more than 10,000,000,000 dollars")
    return amount


def read_rate(text, where):
    rate = read_decimal(text, 6, where)
    if rate > RATE_ONE:
        raise Malformed(f"{where}: {text!r} is not between 0 and 1")
    return rate


def write_money(amount, places):
    """With eight places exactly; with two places the amount has to be a number of whole cents."""
    sign = "-" if amount < 0 else ""
    dollars, units = divmod(abs(amount), DOLLAR)
    fraction = f"{units:08d}"
    assert set(fraction[places:]) <= {"0"}, "an amount with two decimals is a number of whole cents"
    return f"{sign}{dollars}.{fraction[:places]}"


def displayed(amount):
    """The exact amount rounded down to the cent."""
    return amount // CENT * CENT


def rounded_up(numerator, denominator, unit):
    """numerator / denominator, rounded up to a multiple of unit."""
    return -(-numerator // (denominator * unit)) * unit


def money(amount, places=2):
    return write_money(amount, places)
