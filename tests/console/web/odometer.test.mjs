// What the sign's drums show, without a browser.
import { test } from "node:test";
import assert from "node:assert/strict";
import { load } from "./bundled.mjs";
import { faultsIn } from "./sign_faults.mjs";

const { Odometer, drumsAt, nearest } = await load("sign/odometer.ts");
const { conditionOf, isCorrection, isOlder, kOutdatedMs } = await load("sign/reading.ts");

// Pseudo-random numbers by xorshift: the same seed gives the same numbers.
function numbers(seed) {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

test("the first amount is shown at once", () => {
  const odometer = new Odometer();
  odometer.setTarget(5_000_000, 1000, true);
  assert.equal(odometer.at(1000), 5_000_000);
  assert.equal(odometer.at(9000), 5_000_000);
});

test("it rolls up to a higher amount and stops there", () => {
  const odometer = new Odometer();
  odometer.setTarget(5_000_000, 0, true);
  odometer.setTarget(5_000_100, 250);
  assert.equal(odometer.at(250), 5_000_000);
  const midway = odometer.at(400);
  assert.ok(midway > 5_000_000 && midway < 5_000_100, `${midway}`);
  assert.equal(odometer.at(250 + 1500), 5_000_100);
  assert.equal(odometer.at(1e9), 5_000_100);
});

test("with regular updates it rolls without a stop", () => {
  const odometer = new Odometer();
  odometer.setTarget(0, 0, true);
  for (let i = 1; i <= 20; ++i) {
    const before = odometer.at(i * 250 - 1);
    assert.ok(i < 3 || before < (i - 1) * 40, `it stands at ${before} before update ${i}`);
    odometer.setTarget(i * 40, i * 250);
  }
});

test("a repeated amount does not restart the roll", () => {
  const odometer = new Odometer();
  odometer.setTarget(100, 0, true);
  odometer.setTarget(200, 1000);
  const at = odometer.at(1500);
  odometer.setTarget(200, 1200);
  assert.equal(odometer.at(1500), at);
});

test("it jumps to a lower amount, also while it rolls", () => {
  const odometer = new Odometer();
  odometer.setTarget(5_000_000, 0, true);
  odometer.setTarget(6_000_000, 1000);
  assert.ok(odometer.at(1500) > 5_000_000);
  odometer.setTarget(4_000_000, 1500);
  assert.equal(odometer.at(1500), 4_000_000);
  // An amount that was not reached yet is no step back.
  odometer.setTarget(5_000_000, 2000);
  const shown = odometer.at(2100);
  odometer.setTarget(4_900_000, 2100);
  assert.equal(odometer.at(2100), shown);
});

test("with reduced motion it jumps to each amount", () => {
  const odometer = new Odometer();
  odometer.setTarget(100, 0, true);
  odometer.setTarget(300, 1000, true);
  assert.equal(odometer.at(1000), 300);
});

// The number that the nearest digit of each drum gives.
const readOff = (drums) => drums.reduceRight((number, drum) => number * 10 + (Math.round(drum) % 10), 0);

test("for random updates it is never above the received amount, and goes back only when the amount falls", () => {
  for (let seed = 1; seed <= 100; ++seed) {
    const next = numbers(seed * 7919);
    const odometer = new Odometer();
    let taken = next(3) === 0 ? 9_999_000 : next(1_000_000_000);
    let before = taken;
    let now = 0;
    odometer.setTarget(taken, now, true);
    for (let update = 0; update < 60; ++update) {
      taken = next(10) === 0 ? Math.floor(taken / 2) : taken + next(next(2) === 0 ? 5 : 100_000);
      odometer.setTarget(taken, now);
      before = Math.min(before, taken); // a fall is no step back
      for (let frames = next(40); frames > 0; --frames, now += next(40)) {
        const shown = readOff(drumsAt(odometer.at(now)));
        assert.equal(shown, nearest(odometer.at(now)), `seed ${seed}`);
        assert.ok(shown <= taken, `seed ${seed}: ${shown} is above ${taken}`);
        assert.ok(shown >= before, `seed ${seed}: from ${before} back to ${shown}`);
        before = shown;
      }
      now += next(2000);
    }
  }
});

test("a drum turns while all lower drums turn from nine to zero, by the same part", () => {
  assert.deepEqual(drumsAt(0), [0, 0, 0]);
  assert.deepEqual(drumsAt(12345), [5, 4, 3, 2, 1]);
  assert.deepEqual(drumsAt(12345.25), [5.25, 4, 3, 2, 1]);
  assert.deepEqual(drumsAt(12399.5), [9.5, 9.5, 3.5, 2, 1]);
  assert.deepEqual(drumsAt(12909.5), [9.5, 0.5, 9, 2, 1]);
  assert.deepEqual(drumsAt(9999.75), [9.75, 9.75, 9.75, 9.75, 0.75]); // one more comes up
  assert.deepEqual([9999, 9999.25, 9999.5, 9999.75].map(nearest), [9999, 9999, 10000, 10000]);
});

const reading = { displayed_cents: 100, changes: 1, open: true, pending: false, held: false, fault: false };
const won = { table: "BJ01", cents: 50, percent: 10, at: 1, shown: true };

test("each state of a pool gives its condition on the sign", () => {
  assert.equal(conditionOf(undefined, 1), "connecting");
  assert.equal(conditionOf(undefined, kOutdatedMs), "lost");
  assert.equal(conditionOf(reading, 0), "open");
  assert.equal(conditionOf({ ...reading, open: false }, 0), "closed");
  assert.equal(conditionOf({ ...reading, pending: true }, 0), "confirming");
  assert.equal(conditionOf({ ...reading, held: true, open: false }, 0), "held");
  assert.equal(conditionOf({ ...reading, pending: true, held: true }, 0), "held");
  assert.equal(conditionOf({ ...reading, pending: true, won }, 0), "won");
  assert.equal(conditionOf({ ...reading, won: { ...won, shown: false } }, 0), "open");
  // A stale amount is never shown as a current one.
  assert.equal(conditionOf({ ...reading, pending: true, won }, 1), "outdated");
  assert.equal(conditionOf({ ...reading, won }, kOutdatedMs), "lost");
});

test("a fall is a correction unless a win has taken the money", () => {
  const lower = { ...reading, displayed_cents: 90 };
  assert.ok(isCorrection(reading, lower));
  assert.ok(isCorrection({ ...reading, won }, { ...lower, won: { ...won, shown: false } }));
  assert.ok(!isCorrection(reading, { ...lower, won }));
  assert.ok(!isCorrection({ ...reading, won }, { ...lower, won: { ...won, at: 2 } }));
  assert.ok(!isCorrection(lower, reading));
  // A win that is locked or held has taken the money.
  assert.ok(!isCorrection(reading, { ...lower, pending: true }));
  assert.ok(!isCorrection(reading, { ...lower, held: true }));
});

test("an overtaken message is recognised as older, also after the counter restarts", () => {
  assert.ok(isOlder({ ...reading, changes: 6 }, { ...reading, changes: 7 }));
  assert.ok(!isOlder({ ...reading, changes: 7 }, { ...reading, changes: 7 }));
  assert.ok(!isOlder({ ...reading, changes: 0 }, { ...reading, changes: 4294967295 }));
  assert.ok(isOlder({ ...reading, changes: 4294967295 }, { ...reading, changes: 0 }));
});

// ---- the checker of sign.test.mjs

const readings = [100, 100, 140, 180, 180, 60, 60, 70, 70, 70, 70].map((cents, i) => ({
  asked: i * 1000,
  heard: i * 1000 + 10,
  cents,
}));
const frames = [100, 100, 110, 150, 180, 180, 60, 60, 70, 70].map((cents, i) => ({
  at: i * 1000 + 500,
  cents,
  said: cents,
  spoken: cents,
}));
const otherwise = (i, more) => frames.map((each, at) => (at === i ? { ...each, ...more } : each));

test("control: the checker accepts correct frames", () => {
  assert.deepEqual(faultsIn(frames, readings), []);
});

test("the checker detects a cent too much, a step back, and drums that differ from the text", () => {
  for (const [i, more, fault] of [
    [1, { cents: 141, said: 141 }, /^above: 141 .* 140 /],
    [9, { cents: 71, said: 71 }, /^above: 71 .* 70 /],
    [4, { cents: 181, said: 181 }, /^above: 181 .* 180 /],
    [3, { cents: 109, said: 109 }, /^backwards: from 110 to 109/],
    [9, { cents: 69, said: 69 }, /^backwards: from 70 to 69/],
    [8, { spoken: 180 }, /^above: 180 is spoken .* 70 /],
    [2, { said: 111 }, /^drawn: 110 .* 111 /],
  ])
    assert.match(faultsIn(otherwise(i, more), readings).join("\n"), fault);
  // One fall of the amount does not allow two steps back.
  assert.match(faultsIn(otherwise(7, { cents: 59, said: 59 }), readings).join("\n"), /^backwards: 2 times/);
});
