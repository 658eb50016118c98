import { del, patch, post } from "../lib/api";
import { Act, Maybe, Problem } from "./act";
import { useAsked, useLive } from "./live";
import type { Person, Session } from "./types";
import { State, named } from "./words";

const kRoles: [string, string][] = ["supervisor", "surveillance", "inspector", "auditor", "administrator"].map((each) => [
  each,
  named(each),
]);

export function People({ session }: { session: Session }) {
  const records = useLive((live) => live.changes.records);
  const { data, refused, again } = useAsked<{ people: Person[] }>("/people", records);
  return (
    <>
      <Problem refused={refused} />
      <div class="acts">
        <Maybe label="Add a person…">
          <Act
            label="Add"
            fields={[
              { name: "name", label: "Name", hint: "1 to 32 of a-z 0-9 . _ - and never used again" },
              { name: "role", label: "Role", type: "select", options: kRoles },
              {
                name: "password",
                label: "First password",
                type: "password",
                hint: "At least twelve characters; it is changed at the first sign-in",
                autoComplete: "new-password",
              },
            ]}
            send={(values) => post<Person>("/people", values)}
            said={(answer) => `${answer.name} can sign in.`}
            done={again}
          />
        </Maybe>
      </div>
      {data?.people.map((each) => (
        <section key={each.name} class="panel person" aria-label={each.name}>
          <div class="head">
            <h2>{each.name}</h2>
            <span>{named(each.role)}</span>
            {each.disabled && <State state="refused" words="Disabled" />}
            {each.locked_for_s > 0 && <State state="suspended" words={`Locked for ${Math.ceil(each.locked_for_s / 60)} min`} />}
            {each.must_change_password && <State state="plain" words="Must change the password" />}
          </div>
          <div class="acts">
            {each.locked_for_s > 0 && (
              <Act label={`Unlock ${each.name}`} fields={[]} send={() => post(`/people/${each.name}/unlock`)} done={again} />
            )}
            {each.name !== session.name && (
              <>
                <Maybe label="Change the role…">
                  <Act
                    label={`Change ${each.name}`}
                    fields={[{ name: "role", label: "Role", type: "select", options: kRoles, value: each.role }]}
                    send={(values) => patch(`/people/${each.name}`, values)}
                    done={again}
                  />
                </Maybe>
                <Maybe label="New password…">
                  <Act
                    label={`Set it for ${each.name}`}
                    fields={[{ name: "password", label: "Password", type: "password", autoComplete: "new-password" }]}
                    send={(values) => patch(`/people/${each.name}`, { ...values, must_change_password: true })}
                    done={again}
                  />
                </Maybe>
                {each.disabled ? (
                  <Maybe key="enable" label="Enable…">
                    <Act
                      label={`Enable ${each.name}`}
                      fields={[]}
                      send={() => patch(`/people/${each.name}`, { disabled: false })}
                      done={again}
                    />
                  </Maybe>
                ) : (
                  <Maybe key="disable" label="Disable…">
                    <Act label={`Disable ${each.name}`} danger fields={[]} send={() => del(`/people/${each.name}`)} done={again}>
                      <p>Every session of {each.name} ends at once.</p>
                    </Act>
                  </Maybe>
                )}
              </>
            )}
          </div>
        </section>
      ))}
    </>
  );
}
