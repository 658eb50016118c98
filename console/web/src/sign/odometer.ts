// What the drums show. An amount is never shown before it is durable, so they roll up behind the feed: from where they
// are to the amount that was heard last, and not a step further.

// Long enough to reach the next update without a halt between, short enough to be near the truth.
const kShortestMs = 300;
const kLongestMs = 1500;
const kSlack = 1.25; // of the time between the last two updates

export class Odometer {
  #from = 0;
  #to = 0;
  #since = 0;
  #spanMs = 0; // 0: it stands

  // Upwards it rolls, unless it is to jump; downwards it always jumps.
  take(cents: number, now: number, jump = false) {
    const shown = this.at(now);
    if (cents === this.#to && !jump) return;
    const gap = now - this.#since;
    this.#from = jump || cents < shown ? cents : shown;
    this.#to = cents;
    this.#since = now;
    this.#spanMs = this.#from === cents ? 0 : Math.min(Math.max(gap * kSlack, kShortestMs), kLongestMs);
  }

  // In cents and parts of one. Between two calls of `take` it never falls, and never passes what was taken.
  at(now: number): number {
    const part = this.#spanMs === 0 ? 1 : Math.max(now - this.#since, 0) / this.#spanMs;
    return part >= 1 ? this.#to : Math.min(this.#from + (this.#to - this.#from) * part, this.#to);
  }
}

// Where each drum stands, the lowest first: 3.5 is halfway from 3 to 4. A drum turns only while all below it go from
// nine to nought, and all by the same part: the nearest digits read as `nearest`, never as a mixture of two amounts.
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

// What the drums read as: at most the whole cents that they roll to.
export const nearest = (position: number) => Math.floor(position + 0.5);
