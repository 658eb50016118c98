"""A site with a demo floor: dealers who play over HTTPS, as the page of a table does."""

from support.desk_site import DeskSite, DeskTest
from support.programs import until
from support.site import POOLS, Account

DEALT = ("BJ06", "BJ07", "UTH05")


def pools(window_ms):
    return {**POOLS, "B7": {**POOLS["B7"], "simultaneity_window_ms": window_ms}}


class Dealer:
    """A dealer at one table, signed in; the answers are those that the page gets."""

    def __init__(self, test, client, table):
        self.test, self.client, self.table = test, client, table
        self.path = f"/api/v1/demo/tables/{table}"

    def look(self):
        answer = self.client.get(self.path)
        self.test.assertEqual(answer.status, 200, answer.text)
        return answer.json

    def ask(self, what, **body):
        return self.client.ask("POST", f"{self.path}/{what}", body)

    def do(self, what, status=200, **body):
        answer = self.ask(what, **body)
        self.test.assertEqual(answer.status, status, answer.text)
        return answer.json

    def ready(self):
        def takes_wagers():
            answer = self.client.get(self.path)
            return answer.status == 200 and answer.json["link"]["takes_wagers"]

        self.test.assertTrue(until(takes_wagers, 20), self.client.get(self.path).text)
        return self

    def open(self, seats, status=200):
        number = self.look()["next_round"]
        wagers = [{"seat": seat, "player_card": f"{self.table}-{seat}"} for seat in seats]
        shown = self.do("round", status, round=number, wagers=wagers)
        self.test.account.opened(self.table, number, seats)
        self.test.assertEqual(shown["round"]["number"], number)
        self.test.assertEqual([each["seat"] for each in shown["round"]["wagered"]], list(seats))
        return number

    def deal(self, number, board, hands, status=200):
        return self.do("result", status, round=number, board=board.split(),
                       hands=[{"seat": seat, "cards": cards.split()}
                              for seat, cards in hands.items()])

    def press(self, number, age_ms=0):
        return self.do("confirm", round=number, age_ms=age_ms)

    def awards(self, number):
        """[(seat, tier, cents)]: the awards of a round that are due."""
        return [(each["seat"], each["tier"], each["cents"]) for each in self.look()["awards"]
                if each["round"] == number and each["state"] == "due"]

    def settled(self, number, count):
        self.test.assertTrue(until(lambda: len(self.awards(number)) >= count, 20, 0.05),
                             self.look())
        return self.awards(number)


class DemoTest(DeskTest):
    options = {"tables": ("BJ01",) + DEALT, "pools": pools(200),
               "link": {"offline_after_ms": 2000},
               "table_options": {"BJ06": {"require_player_card": False}}}

    def setUp(self):
        self.site = DeskSite(desk=self.desk, demo={"tables": DEALT}, **self.options)
        self.addCleanup(self.site.close)
        self.account = Account()

    def arrive(self, *tables):
        """Signs one dealer in, for all of these tables."""
        self.site.start()
        self.site.add("ann", "supervisor")
        client = self.signed_in("ann")
        return [Dealer(self, client, table).ready() for table in tables]
