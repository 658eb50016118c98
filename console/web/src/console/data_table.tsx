import type { ComponentChildren } from "preact";

interface Props {
  label: string;
  columns: string[];
  numbers?: string[]; // the columns that are aligned right
  children: ComponentChildren; // the rows
}

// A table that scrolls sideways on narrow screens, also by keyboard.
export const DataTable = ({ label, columns, numbers = [], children }: Props) => (
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table>
      <thead>
        <tr>
          {columns.map((each) => (
            <th key={each} scope="col" {...(numbers.includes(each) ? { class: "number" } : {})}>
              {each}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);
