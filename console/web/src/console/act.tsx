// A form for one action of a person. An error is shown next to the button that caused it, and the entered values stay.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import type { ApiError } from "../lib/api";
import { errorText } from "./format";
import type { Proposal } from "./types";

export interface Field {
  name: string;
  label: string;
  value?: string;
  hint?: string;
  type?: "text" | "password" | "amount" | "select" | "number";
  options?: [string, string][];
  optional?: boolean;
  autoComplete?: string;
  onChange?: (value: string) => void; // of a select
}

interface Props {
  fields: Field[];
  // The text of the button, such as "Suspend BJ01".
  label: string;
  danger?: boolean;
  send: (values: Record<string, string>) => Promise<unknown>;
  onDone?: (answer: any) => void;
  // Shown after success, if the form stays on the page.
  message?: (answer: any) => string;
  onError?: (error: ApiError) => void;
  children?: ComponentChildren;
}

export function ActionForm({ fields, label, danger, send, onDone, message, onError, children }: Props) {
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState("");
  const [news, setNews] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const isMounted = useRef(true);
  useEffect(() => () => void (isMounted.current = false), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    const values: Record<string, string> = {};
    for (const [name, value] of new FormData(form.current!)) values[name] = String(value).trim();
    const missing = fields.find((each) => !each.optional && !values[each.name]);
    setNews("");
    if (missing) {
      setRefusal(`${missing.label} is required.`);
      form.current!.querySelector<HTMLElement>(`[name="${missing.name}"]`)?.focus();
      return;
    }
    setBusy(true);
    setRefusal("");
    try {
      const answer = await send(values);
      if (isMounted.current) {
        form.current?.reset();
        setNews(message?.(answer) ?? "");
      }
      onDone?.(answer);
    } catch (thrown) {
      const error = thrown as ApiError;
      // The request may have arrived although no answer did.
      setRefusal(errorText(error) + (error.status === 0 ? " Check whether it was done before you try again." : ""));
      onError?.(error);
    } finally {
      if (isMounted.current) setBusy(false);
    }
  };

  return (
    <form ref={form} class="act" onSubmit={submit} noValidate>
      {children}
      {fields.map((field) => {
        const own = `${id}-${field.name}`;
        const described = field.hint ? { "aria-describedby": `${own}-hint` } : {};
        return (
          <div key={field.name} class={`field ${field.type ?? "text"}`}>
            <label for={own}>
              {field.label}
              {field.optional && <span class="optional"> optional</span>}
            </label>
            {field.type === "select" ? (
              <select
                id={own}
                name={field.name}
                onChange={(event) => field.onChange?.(event.currentTarget.value)}
                {...described}
              >
                {field.options!.map(([value, words]) => (
                  <option key={value} value={value} selected={value === field.value}>
                    {words}
                  </option>
                ))}
              </select>
            ) : (
              <input
                id={own}
                name={field.name}
                type={(field.type === "password" ? "password" : "text") as "text"}
                inputMode={field.type === "amount" ? "decimal" : field.type === "number" ? "numeric" : "text"}
                autoComplete={field.autoComplete ?? "off"}
                autoCapitalize="none"
                spellcheck={false}
                maxLength={500}
                defaultValue={field.value ?? ""}
                {...described}
              />
            )}
            {field.hint && (
              <span class="hint" id={`${own}-hint`}>
                {field.hint}
              </span>
            )}
          </div>
        );
      })}
      <div class="send">
        <button type="submit" class={danger ? "danger" : "primary"} aria-disabled={busy}>
          {busy ? "One moment…" : label}
        </button>
      </div>
      <p class="refusal" role="alert">
        {refusal}
      </p>
      <p class="news" role="status">
        {news}
      </p>
    </form>
  );
}

// A section that is closed until somebody opens it, for actions that are rarely needed.
export function Disclosure({ label, children }: { label: string; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="maybe" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && children}
    </details>
  );
}

export const reason: Field = { name: "reason", label: "Reason", hint: "It is recorded in the journal with your name." };

// A ground says what happened; a text for people may be added.
export const remark: Field = { ...reason, label: "Remark", optional: true };

export const proposed = (answer: Proposal) => `Proposal ${answer.proposal} waits for a second person.`;
// The controller decides whether an action takes a second person.
export const doneOrProposed = (answer: Proposal | object) => ("proposal" in answer ? proposed(answer) : "It is done.");

export const Problem = ({ error }: { error: ApiError | undefined }) =>
  error && error.status !== 0 && error.status !== 401 ? (
    <p class="refusal" role="alert">
      {errorText(error)}
    </p>
  ) : null;
