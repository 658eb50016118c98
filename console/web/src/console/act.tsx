// A form with which a person does one thing. What is refused is said where it was asked for, and nothing that was
// written is lost.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

import type { Refused } from "../lib/api";
import { inWords } from "./words";

export interface Field {
  name: string;
  label: string;
  value?: string;
  hint?: string;
  type?: "text" | "password" | "amount" | "select" | "number";
  options?: [string, string][];
  optional?: boolean;
  autoComplete?: string;
}

interface Props {
  fields: Field[];
  // What the button says: "Suspend BJ01".
  label: string;
  danger?: boolean;
  send: (values: Record<string, string>) => Promise<unknown>;
  done?: (answer: any) => void;
  // Said when it is done, where the form stays.
  said?: (answer: any) => string;
  refused?: (refused: Refused) => void;
  children?: ComponentChildren;
}

export function Act({ fields, label, danger, send, done, said, refused: onRefused, children }: Props) {
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState("");
  const [news, setNews] = useState("");
  const form = useRef<HTMLFormElement>(null);
  const here = useRef(true);
  useEffect(() => () => void (here.current = false), []);

  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) return;
    const values: Record<string, string> = {};
    for (const [name, value] of new FormData(form.current!)) values[name] = String(value).trim();
    const missing = fields.find((each) => !each.optional && !values[each.name]);
    setNews("");
    if (missing) {
      setRefusal(`${missing.label}: this is needed.`);
      form.current!.querySelector<HTMLElement>(`[name="${missing.name}"]`)?.focus();
      return;
    }
    setBusy(true);
    setRefusal("");
    try {
      const answer = await send(values);
      if (here.current) {
        form.current?.reset();
        setNews(said?.(answer) ?? "");
      }
      done?.(answer);
    } catch (error) {
      const why = error as Refused;
      // It may have arrived, though no answer did.
      setRefusal(inWords(why) + (why.status === 0 ? " Look whether it was done before you try again." : ""));
      onRefused?.(why);
    } finally {
      if (here.current) setBusy(false);
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
              <select id={own} name={field.name} {...described}>
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

// Something that is done now and then: closed until it is wanted.
export function Maybe({ label, children }: { label: string; children: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="maybe" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{label}</summary>
      {open && children}
    </details>
  );
}

export const reason: Field = { name: "reason", label: "Reason", hint: "It is journaled with your name." };

export const Problem = ({ refused }: { refused: Refused | undefined }) =>
  refused && refused.status !== 0 && refused.status !== 401 ? (
    <p class="refusal" role="alert">
      {inWords(refused)}
    </p>
  ) : null;
