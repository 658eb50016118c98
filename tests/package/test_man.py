"""The man pages say what the programs' --help says and what the configuration's parser knows: each
command, option, exit status and key, and none that there is not."""

import os
import re
import subprocess
import unittest
from pathlib import Path

from support.programs import ROOT

MAN = ROOT / "docs" / "man"
PAGES = {"jackpotd": "jackpotd.8", "jackpotctl": "jackpotctl.1", "jackpot-audit": "jackpot-audit.1",
         "floorsim": "floorsim.1"}
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*|-[a-z])(?![\w-])")


def output_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def commands_of(program, text):
    """The words after the program's name in the usage lines of a help text."""
    found = re.findall(rf"(?m)^  {program} ([a-z][a-z-]*(?: \| [a-z][a-z-]*)*)\b", text)
    return list(dict.fromkeys(word for line in found for word in line.split(" | ")))


def helps_of(program):
    """Each help text of the program, by the words of the command."""
    path = Path(os.environ["BIN"]) / program
    texts = {"": output_of(path, "--help")}
    for command in commands_of(program, texts[""]):
        text = texts[command] = output_of(path, command, "--help")
        for word in commands_of(f"{program} {command}", text):
            words = f"{command} {word}"
            # If a command has no subcommands, this is its own help again.
            done = subprocess.run([path, *words.split(), "--help"], capture_output=True, text=True,
                                  timeout=60)
            texts[words] = done.stdout if done.returncode == 0 else text
    return texts


def rendered(source):
    """The page as text, with lines so long that no option is broken."""
    done = subprocess.run(["mandoc", "-mdoc", "-Tascii", "-Owidth=1000"], input=source,
                          capture_output=True, text=True, timeout=60, check=True)
    return re.sub(".\b", "", done.stdout)


def statuses_of_help(text):
    found = set()
    for block in re.findall(r"(?ms)^Exit status:(.*?)(?=^$|\Z)", text):
        found |= set(re.findall(r"(?m)(?:^ *|[,;] )(\d+) +\w", block))
    return found


def statuses_of_page(text):
    section = re.search(r"(?ms)^EXIT STATUS$(.*?)(?=^[A-Z])", text)[1]
    return set(re.findall(r"(?m)^ {5}(\d+) ", section))


def differences(program, texts, source):
    """Everything that is only on the page or only in the help texts."""
    page = rendered(source)
    options = set(OPTION.findall(page)) | {"-h"}  # a synonym of --help that needs no description
    found = []
    for words, text in texts.items():
        item = words.replace(" ", r" (?:[a-z-]+ \| )*")  # "suspend table | pool"
        if words and not re.search(rf"(?m)^ {{5}}{item}\b", page):
            found.append(f"the command {words} is missing")
        for option in OPTION.findall(text):
            if option not in options:
                found.append(f"the option {option} of {program} {words} is missing")
    known = set(OPTION.findall("\n".join(texts.values())))
    for option in re.findall(r"Fl (Fl [a-z][a-z0-9-]*|[a-z]\b)", source):
        option = option.replace("Fl ", "--") if option.startswith("Fl ") else f"-{option}"
        if option not in known:
            found.append(f"there is no option {option}")
    for command in re.findall(r"(?m)^\.It Cm ([a-z-]+)", source):
        if command not in texts:
            found.append(f"there is no command {command}")
    help_says = set().union(*(statuses_of_help(text) for text in texts.values()))
    for status in sorted(help_says ^ statuses_of_page(page)):
        found.append(f"the exit status {status} is not in both")
    return sorted(set(found))


def keys_of_sample(text):
    """The keys of each section, also the commented-out ones."""
    keys, section = {}, None
    for line in text.splitlines():
        line = re.sub(r"^# (?=\[|[a-z_.]+ = )", "", line)
        if header := re.match(r"\[+([a-z.]+)\]+", line):
            section = header[1].removesuffix(".row")
        elif section:
            keys.setdefault(section, set()).update(re.findall(r"(?:^|[{,] )([a-z_.]+) = ", line))
    return {section: found - {""} for section, found in keys.items()}


def keys_of_page(source):
    keys, section = {}, None
    for line in source.splitlines():
        if header := re.match(r"\.S[hs] (.*)", line):
            match = re.match(r"\[+([a-z.]+)\]+ section", header[1], re.IGNORECASE)
            section = match[1] if match else None
        elif section and re.match(r"\.(It )?Ic ", line):
            keys.setdefault(section, set()).update(re.findall(r"Ic ([a-z_.]+)", line))
    return keys


def keys_of_parser():
    sources = "".join(file.read_text() for file in sorted((ROOT / "config").glob("*.cpp")))
    return set(re.findall(r'(?:\[|required\(|timeout\()"([a-z_]+)"', sources))


def key_differences(sample, source, parser):
    wanted, there = keys_of_sample(sample), keys_of_page(source)
    found = [f"[{section}] {key} is not in both" for section in wanted.keys() | there.keys()
             for key in wanted.get(section, set()) ^ there.get(section, set())]
    words = {word for keys in there.values() for key in keys for word in key.split(".")}
    # [[paytable]] and its like are sections, which the parser asks for in the same way.
    return sorted(found + [f"{key} is missing" for key in parser - words - there.keys()])


class ManPages(unittest.TestCase):
    def test_pages_are_well_formed(self):
        for page in sorted(MAN.iterdir()):
            done = subprocess.run(["mandoc", "-Tlint", page], capture_output=True, text=True)
            # Manuals of others need not be installed here.
            others = ("referenced manual not found", "outdated mandoc.db")
            said_of_it = [line for line in (done.stdout + done.stderr).splitlines()
                          if not any(other in line for other in others)]
            self.assertEqual(said_of_it, [])
            groff = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True,
                                   env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
            self.assertEqual((groff.returncode, groff.stderr), (0, ""), page)

    def test_pages_agree_with_help(self):
        for program, page in PAGES.items():
            with self.subTest(program):
                source = (MAN / page).read_text()
                texts = helps_of(program)
                self.assertEqual(differences(program, texts, source), [])

                # Control: invented and missing entries are detected.
                made_up = {**texts, "": texts[""] + "\n  --made-up N  nobody knows\n"}
                self.assertIn("the option --made-up of " + program + "  is missing",
                              differences(program, made_up, source))
                made_up = {**texts, "make-up": ""}
                self.assertIn("the command make-up is missing", differences(program, made_up, source))
                made_up = {**texts, "": texts[""] + "\nExit status: 0 good; 99 made up\n"}
                self.assertIn("the exit status 99 is not in both",
                              differences(program, made_up, source))
                self.assertIn("there is no option --stale",
                              differences(program, texts, source + ".Fl Fl stale\n"))
                self.assertIn("there is no command stale",
                              differences(program, texts, source + ".Bl -tag\n.It Cm stale\n.El\n"))

    def test_the_commands_were_found(self):
        texts = helps_of("jackpotctl")
        for words in ("simulate", "pki renew", "journal rotate-key", "users add", "rule", "report"):
            self.assertIn(words, texts)
        self.assertIn("prove", helps_of("jackpot-audit"))
        self.assertEqual(statuses_of_help(texts["journal"]), {"0", "2", "3", "4", "5", "6", "7"})

    def test_every_key_of_the_configuration_is_on_the_page(self):
        sample = (ROOT / "config" / "jackpotd.toml").read_text()
        source = (MAN / "jackpotd.toml.5").read_text()
        parser = keys_of_parser()
        self.assertEqual(key_differences(sample, source, parser), [])

        self.assertIn("silent_after_s", keys_of_sample(sample)["meter"])
        self.assertIn("offline_after_ms", parser)
        self.assertEqual(key_differences(sample + "# made_up = 1\n", source, parser),
                         ["[meter] made_up is not in both"])
        self.assertEqual(key_differences(sample, source.replace(".It Ic batch\n", ".It batch\n"), parser),
                         ["[writer] batch is not in both", "batch is missing"])
        self.assertEqual(key_differences(sample, source, parser | {"made_up"}), ["made_up is missing"])

    def test_the_example_configuration_is_valid(self):
        source = (MAN / "jackpotd.toml.5").read_text()
        example = re.search(r"(?ms)^\.Bd -literal.*?$(.*?)^\.Ed", source[source.index(".Sh EXAMPLES"):])[1]
        done = subprocess.run([Path(os.environ["BIN"]) / "jackpotd", "--check-config", "--config", "/dev/stdin"],
                              input=example, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
