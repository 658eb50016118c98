// The position of the drums. The sign never shows an amount before it is durable, so the drums roll behind the feed: from
// their position to the last received amount, and never beyond it.

// Long enough to roll without a stop until the next update, short enough to stay near the true amount.
const kMinMs = 300;
const kMaxMs = 1500;
const kSlack = 1.25; // of the time between the last two updates

export class Odometer {
  #from = 0;
  #to = 0;
  #since = 0;
  #spanMs = 0; // 0: not rolling

  // Rolls upwards, unless `jump`; always jumps downwards.
  setTarget(cents: number, now: number, jump = false) {
    const shown = this.at(now);
    if (cents === this.#to && !jump) return;
    const gap = now - this.#since;
    this.#from = jump || cents < shown ? cents : shown;
    this.#to = cents;
    this.#since = now;
    this.#spanMs = this.#from === cents ? 0 : Math.min(Math.max(gap * kSlack, kMinMs), kMaxMs);
  }

  // In cents, with fractions. Between two calls of setTarget it never falls and never passes the target.
  at(now: number): number {
    const part = this.#spanMs === 0 ? 1 : Math.max(now - this.#since, 0) / this.#spanMs;
    return part >= 1 ? this.#to : Math.min(this.#from + (this.#to - this.#from) * part, this.#to);
  }
}

// The position of each drum, the lowest digit first: 3.5 is halfway from 3 to 4. A drum turns only while all lower drums
// turn from nine to zero, all by the same fraction. So the nearest digits read as `nearest`, never as a mix of two amounts.
export function drumsAt(position: number): number[] {
  const whole = Math.floor(position);
  const turn = position - whole;
  const count = Math.max(String(Math.ceil(position)).length, 3);
  const drums: number[] = [];
  let rest = whole;
  let turns = true;
  for (let i = 0; i < count; ++i) {
    const digit = rest % 10;
    drums.push(digit + (turns ? turn : 0));
    turns &&= digit === 9;
    rest = Math.floor(rest / 10);
  }
  return drums;
}

// The amount that the drums read as, in whole cents; never more than the target.
export const nearest = (position: number) => Math.floor(position + 0.5);
