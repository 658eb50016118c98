// Keeps a sign up to date with its pool and reports when the connection is lost.
import { ApiError, get } from "../lib/api";
import { openFeed } from "../lib/feed";
import { type Reading, isOlder } from "./reading";

const kRetryMs = 1000;

export interface PoolListener {
  onReading(reading: Reading): void;
  onDisconnected(): void;
  onUnknown(): void;
}

export function watchPool(pool: string, listener: PoolListener) {
  const path = `/signs/${encodeURIComponent(pool)}`;
  let connection = 0; // answers to queries of an earlier connection are ignored
  let last: Reading | undefined; // of this connection

  const receive = (reading: Reading) => {
    if (last && isOlder(reading, last)) return;
    last = reading;
    listener.onReading(reading);
  };
  // The feed sends changes only, and nothing if the pool is unknown.
  const query = async (live: boolean) => {
    const queried = connection;
    try {
      const reading = await get<Reading>(path);
      if (live && queried === connection) receive(reading);
    } catch (error) {
      if (queried !== connection) return;
      if (error instanceof ApiError && error.code === "unknown_pool") listener.onUnknown();
      if (live) setTimeout(() => queried === connection && query(live), kRetryMs);
    }
  };
  openFeed(`${path}/feed`, { pool: receive }, (live) => {
    ++connection;
    last = undefined;
    // A new connection counts as live only after the first reading: until then the sign shows old data.
    if (!live) listener.onDisconnected();
    query(live);
  });
}
