// A live feed that says whether it is live. The server says something every few seconds, if only that it is alive; what
// is silent for longer is as good as gone, however open its connection looks.

const kSilence = 8000;
const kRetry = 1000;

export interface Feed {
  close(): void;
}

// `onLive(true)` comes with each new connection: what was missed is to be asked for then.
export function listen(
  path: string,
  events: Record<string, (data: any) => void>,
  onLive: (live: boolean) => void,
): Feed {
  let source: EventSource | undefined;
  let watch: number | undefined;
  let retry: number | undefined;
  let closed = false;

  const lose = () => {
    source?.close();
    clearTimeout(watch);
    if (closed) return;
    onLive(false);
    clearTimeout(retry);
    retry = setTimeout(connect, kRetry);
  };
  const hear = () => {
    clearTimeout(watch);
    watch = setTimeout(lose, kSilence);
  };
  const connect = () => {
    source = new EventSource(`/api/v1${path}`);
    source.onopen = () => {
      hear();
      onLive(true);
    };
    source.onerror = lose;
    source.addEventListener("alive", hear);
    // The server dropped what came too fast for this page: it is asked for as after a new connection.
    source.addEventListener("lost", () => onLive(true));
    for (const [name, take] of Object.entries(events))
      source.addEventListener(name, (event) => {
        hear();
        take(JSON.parse((event as MessageEvent).data));
      });
    hear();
  };
  connect();
  return {
    close() {
      closed = true;
      clearTimeout(retry);
      lose();
    },
  };
}
