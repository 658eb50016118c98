// Keeps a sign told of its pool, and says from when on it is not.
import { Refused, get } from "../lib/api";
import { listen } from "../lib/feed";
import { type Reading, isOlder } from "./reading";

const kAgainMs = 1000;

export interface Told {
  onReading(reading: Reading): void;
  onSilence(): void;
  onUnknown(): void;
}

export function watchPool(pool: string, told: Told) {
  const path = `/signs/${encodeURIComponent(pool)}`;
  let connection = 0; // whatever was asked before is not heeded after
  let last: Reading | undefined; // of this connection

  const take = (reading: Reading) => {
    if (last && isOlder(reading, last)) return;
    last = reading;
    told.onReading(reading);
  };
  // The feed tells of changes alone, and nothing at all where there is no such pool.
  const ask = async (live: boolean) => {
    const asked = connection;
    try {
      const reading = await get<Reading>(path);
      if (live && asked === connection) take(reading);
    } catch (refused) {
      if (asked !== connection) return;
      if (refused instanceof Refused && refused.code === "unknown_pool") told.onUnknown();
      if (live) setTimeout(() => asked === connection && ask(live), kAgainMs);
    }
  };
  listen(`${path}/feed`, { pool: take }, (live) => {
    ++connection;
    last = undefined;
    // Live only once something is heard: what is shown is from before.
    if (!live) told.onSilence();
    ask(live);
  });
}
