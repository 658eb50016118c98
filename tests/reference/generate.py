#!/usr/bin/env python3
"""Random scenarios, far more eventful than a gaming floor.

    generate.py --seed N               prints a scenario
    generate.py --seed N --malformed   prints one that has to be answered with exit status 2

The generator runs the model beside it, event by event, so that it knows what waits, what is held
and where the edges are: a ruling can name exactly what is held, a press can be one millisecond
inside a window, an adjustment can take the meter one cent below its minimum.
"""

import argparse
import json

from generator import generate
from malformed import malformed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--malformed", action="store_true",
                        help="a scenario that has to be answered with exit status 2")
    arguments = parser.parse_args()
    if arguments.malformed:
        text, what = malformed(arguments.seed)
        print(text.decode())
    else:
        print(json.dumps(generate(arguments.seed), indent=1))


if __name__ == "__main__":
    main()
