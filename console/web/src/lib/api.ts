// The desk's API as the pages use it.

export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

let csrf = "";

// Of the session that has begun; sent with whatever changes something.
export function setCsrf(token: string) {
  csrf = token;
}

let signedOut = () => {};

// Called whenever an answer says that there is no session, or none any more.
export function whenSignedOut(then: () => void) {
  signedOut = then;
}

async function ask<T>(method: string, path: string, body?: unknown, byItself = false): Promise<T> {
  const headers: Record<string, string> = {};
  if (byItself) headers["X-By-Itself"] = "1";
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
    throw new Refused(0, "unreachable", "The controller cannot be reached.");
  }
  if (answer.status === 204) return undefined as T;
  const json = await answer.json().catch(() => ({}));
  if (json.error?.code === "not_signed_in") signedOut();
  if (!answer.ok)
    throw new Refused(
      answer.status,
      json.error?.code ?? "refused",
      json.error?.message ?? `The controller answered with status ${answer.status}.`,
    );
  return json as T;
}

export const get = <T>(path: string) => ask<T>("GET", path);
// What the page brings up to date by itself: it does not keep the session alive.
export const getByItself = <T>(path: string) => ask<T>("GET", path, undefined, true);
export const post = <T>(path: string, body: unknown = {}) => ask<T>("POST", path, body);
export const put = <T>(path: string, body: unknown = {}) => ask<T>("PUT", path, body);
export const patch = <T>(path: string, body: unknown) => ask<T>("PATCH", path, body);
export const del = <T>(path: string) => ask<T>("DELETE", path);
