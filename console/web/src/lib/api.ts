// HTTP requests of the pages to the desk's API.

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

let csrf = "";

// The token of the session; sent with every request that changes something.
export function setCsrf(token: string) {
  csrf = token;
}

let onSignedOut = () => {};

// `then` is called whenever an answer means that there is no session.
export function whenSignedOut(then: () => void) {
  onSignedOut = then;
}

async function send<T>(method: string, path: string, body?: unknown, inBackground = false): Promise<T> {
  const headers: Record<string, string> = {};
  if (inBackground) headers["X-Background-Request"] = "1";
  if (method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(`/api/v1${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new ApiError(0, "unreachable", "The controller cannot be reached.");
  }
  if (answer.status === 204) return undefined as T;
  const json = await answer.json().catch(() => ({}));
  if (json.error?.code === "not_signed_in") onSignedOut();
  if (!answer.ok)
    throw new ApiError(
      answer.status,
      json.error?.code ?? "refused",
      json.error?.message ?? `The controller answered with status ${answer.status}.`,
    );
  return json as T;
}

export const get = <T>(path: string) => send<T>("GET", path);
// For refreshes without a person acting: the request does not keep the session alive.
export const getInBackground = <T>(path: string) => send<T>("GET", path, undefined, true);
export const post = <T>(path: string, body: unknown = {}) => send<T>("POST", path, body);
export const put = <T>(path: string, body: unknown = {}) => send<T>("PUT", path, body);
export const patch = <T>(path: string, body: unknown) => send<T>("PATCH", path, body);
export const del = <T>(path: string) => send<T>("DELETE", path);
