// Sign-in at the table, with an account of the desk.
import { useState } from "preact/hooks";

import { post, type ApiError, setCsrf } from "../lib/api";

export interface Session {
  name: string;
  role: string;
  csrf: string;
  must_change_password: boolean;
}

export function SignIn({ table, onSignedIn }: { table: string; onSignedIn: (session: Session) => void }) {
  const [refusal, setRefusal] = useState("");
  const [busy, setBusy] = useState(false);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    const given = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    setRefusal("");
    try {
      const session = await post<Session>("/session", { name: given.get("name"), password: given.get("password") });
      setCsrf(session.csrf);
      onSignedIn(session);
    } catch (error) {
      setRefusal((error as ApiError).message);
      setBusy(false);
    }
  };

  return (
    <main class="door">
      <form class="panel" onSubmit={submit}>
        <h1>Table {table}</h1>
        <p>Sign in with your desk account.</p>
        <label for="name">Name</label>
        <input id="name" name="name" autoComplete="username" autoCapitalize="none" spellcheck={false} required maxLength={32} />
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autoComplete="current-password" required maxLength={256} />
        <button class="primary" aria-disabled={busy}>
          {busy ? "One moment…" : "Sign in"}
        </button>
        <p class="refusal" role="alert">
          {refusal}
        </p>
      </form>
    </main>
  );
}
