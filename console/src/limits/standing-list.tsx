import { Text } from "@mantine/core";
import type { LimitStandingRow } from "@sluice/contract";
import { Meter } from "./meter.tsx";
import { OutlookText, Resets } from "./outlook.tsx";
import { kindWords } from "./standing-words.ts";

/** The limits of one thing, one under the other. */
export function StandingList({ rows }: { readonly rows: readonly LimitStandingRow[] }) {
  return (
    <ul className="plain-list standings">
      {rows.map((row) => (
        <li key={`${row.kind} ${row.period}`}>
          <Text size="sm" fw={500}>
            {kindWords(row)}
          </Text>
          <Meter row={row} />
          <Text size="xs" c="dimmed" component="div" className="standing-notes">
            <span>
              Frees: <Resets row={row} />
            </span>
            {row.forecast !== null && <OutlookText row={row} />}
          </Text>
        </li>
      ))}
    </ul>
  );
}
