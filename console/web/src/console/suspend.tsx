import { post } from "../lib/api";
import { ActionForm, Disclosure, type Field, reason, remark } from "./act";
import { groundField, kSuspensionGrounds, withoutEmpty } from "./grounds";
import type { Session } from "./types";

interface Props {
  name: string;
  path: string; // of the pool or table in the API
  suspended: boolean;
  game?: string | undefined; // of a table: its suspension has a ground
  session: Session;
  reload: () => void;
}

// Suspends or resumes a pool or a table, for the roles that may do so.
export function SuspendOrResume({ name, path, suspended, game, session, reload }: Props) {
  if (!["supervisor", "surveillance", "inspector"].includes(session.role)) return null;
  const [verb, action] = suspended ? ["Resume", "resume"] : ["Suspend", "suspend"];
  const fields: Field[] = game && !suspended ? [groundField(kSuspensionGrounds, game), remark] : [reason];
  return (
    <Disclosure key={action} label={`${verb} ${name}…`}>
      <ActionForm
        label={`${verb} ${name}`}
        danger={!suspended}
        fields={fields}
        send={(values) => post(`${path}/${action}`, withoutEmpty(values))}
        onDone={reload}
      />
    </Disclosure>
  );
}
