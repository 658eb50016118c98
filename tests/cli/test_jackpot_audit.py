#!/usr/bin/env python3
"""The command line of jackpot-audit. JACKPOT_AUDIT and MAKE_JOURNAL are the paths of the programs.

The tests are in audit_*.py beside this file; arguments are those of unittest."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

MODULES = ("audit_basics", "audit_verifying", "audit_exports", "audit_proving", "audit_reading",
           "audit_reporting", "audit_page", "audit_documented")

if __name__ == "__main__":
    for name in MODULES:
        module = __import__(name)
        for each in vars(module).values():
            if isinstance(each, type) and issubclass(each, unittest.TestCase) \
                    and each.__module__ == name:
                globals()[each.__name__] = each
    unittest.main()
