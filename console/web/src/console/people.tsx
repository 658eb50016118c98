import { del, patch, post } from "../lib/api";
import { ActionForm, Disclosure, Problem } from "./act";
import { useQuery, useLive } from "./live";
import type { Person, Session } from "./types";
import { State, readableId } from "./format";

const kRoles: [string, string][] = ["supervisor", "surveillance", "inspector", "auditor", "administrator"].map((each) => [
  each,
  readableId(each),
]);

export function People({ session }: { session: Session }) {
  const records = useLive((live) => live.changes.records);
  const { data, error, reload } = useQuery<{ people: Person[] }>("/people", records);
  return (
    <>
      <Problem error={error} />
      <div class="acts">
        <Disclosure label="Add a person…">
          <ActionForm
            label="Add"
            fields={[
              { name: "name", label: "Name", hint: "1 to 32 characters: a-z 0-9 . _ - (names are never reused)" },
              { name: "role", label: "Role", type: "select", options: kRoles },
              {
                name: "password",
                label: "First password",
                type: "password",
                hint: "At least twelve characters; must be changed at the first sign-in",
                autoComplete: "new-password",
              },
            ]}
            send={(values) => post<Person>("/people", values)}
            message={(answer) => `${answer.name} can sign in.`}
            onDone={reload}
          />
        </Disclosure>
      </div>
      {data?.people.map((each) => (
        <section key={each.name} class="panel person" aria-label={each.name}>
          <div class="head">
            <h2>{each.name}</h2>
            <span>{readableId(each.role)}</span>
            {each.disabled && <State state="refused" words="Disabled" />}
            {each.locked_for_s > 0 && <State state="suspended" words={`Locked for ${Math.ceil(each.locked_for_s / 60)} min`} />}
            {each.must_change_password && <State state="plain" words="Must change the password" />}
          </div>
          <div class="acts">
            {each.locked_for_s > 0 && (
              <ActionForm label={`Unlock ${each.name}`} fields={[]} send={() => post(`/people/${each.name}/unlock`)} onDone={reload} />
            )}
            {each.name !== session.name && (
              <>
                <Disclosure label="Change the role…">
                  <ActionForm
                    label={`Change ${each.name}`}
                    fields={[{ name: "role", label: "Role", type: "select", options: kRoles, value: each.role }]}
                    send={(values) => patch(`/people/${each.name}`, values)}
                    onDone={reload}
                  />
                </Disclosure>
                <Disclosure label="New password…">
                  <ActionForm
                    label={`Set the password of ${each.name}`}
                    fields={[{ name: "password", label: "Password", type: "password", autoComplete: "new-password" }]}
                    send={(values) => patch(`/people/${each.name}`, { ...values, must_change_password: true })}
                    onDone={reload}
                  />
                </Disclosure>
                {each.disabled ? (
                  <Disclosure key="enable" label="Enable…">
                    <ActionForm
                      label={`Enable ${each.name}`}
                      fields={[]}
                      send={() => patch(`/people/${each.name}`, { disabled: false })}
                      onDone={reload}
                    />
                  </Disclosure>
                ) : (
                  <Disclosure key="disable" label="Disable…">
                    <ActionForm label={`Disable ${each.name}`} danger fields={[]} send={() => del(`/people/${each.name}`)} onDone={reload}>
                      <p>Every session of {each.name} ends at once.</p>
                    </ActionForm>
                  </Disclosure>
                )}
              </>
            )}
          </div>
        </section>
      ))}
    </>
  );
}
