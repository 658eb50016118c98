import { post } from "../lib/api";
import { ActionForm, Disclosure, reason } from "./act";
import type { Session } from "./types";

interface Props {
  name: string;
  path: string; // of the pool or table in the API
  suspended: boolean;
  session: Session;
  reload: () => void;
}

// Suspends or resumes a pool or a table, for the roles that may do so.
export function SuspendOrResume({ name, path, suspended, session, reload }: Props) {
  if (!["supervisor", "surveillance", "inspector"].includes(session.role)) return null;
  const [verb, action] = suspended ? ["Resume", "resume"] : ["Suspend", "suspend"];
  return (
    <Disclosure key={action} label={`${verb} ${name}…`}>
      <ActionForm
        label={`${verb} ${name}`}
        danger={!suspended}
        fields={[reason]}
        send={(values) => post(`${path}/${action}`, values)}
        onDone={reload}
      />
    </Disclosure>
  );
}
