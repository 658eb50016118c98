// A feed of server-sent events that detects lost connections. The server sends an event at least every few seconds; after
// a longer silence the connection counts as lost, even if the browser still reports it as open.

const kTimeoutMs = 8000;
const kRetryMs = 1000;

export interface Feed {
  close(): void;
}

// Calls `onLive(true)` for each new connection: the caller then queries what it missed.
export function openFeed(
  path: string,
  events: Record<string, (data: any) => void>,
  onLive: (live: boolean) => void,
): Feed {
  let source: EventSource | undefined;
  let timeout: number | undefined;
  let retry: number | undefined;
  let closed = false;

  const reconnect = () => {
    source?.close();
    clearTimeout(timeout);
    if (closed) return;
    onLive(false);
    clearTimeout(retry);
    retry = setTimeout(connect, kRetryMs);
  };
  const restartTimeout = () => {
    clearTimeout(timeout);
    timeout = setTimeout(reconnect, kTimeoutMs);
  };
  const connect = () => {
    source = new EventSource(`/api/v1${path}`);
    source.onopen = () => {
      restartTimeout();
      onLive(true);
    };
    source.onerror = reconnect;
    source.addEventListener("alive", restartTimeout);
    // The server dropped events because this page was too slow: treat it like a new connection.
    source.addEventListener("lost", () => onLive(true));
    for (const [name, handle] of Object.entries(events))
      source.addEventListener(name, (event) => {
        restartTimeout();
        handle(JSON.parse((event as MessageEvent).data));
      });
    restartTimeout();
  };
  connect();
  return {
    close() {
      closed = true;
      clearTimeout(retry);
      reconnect();
    },
  };
}
