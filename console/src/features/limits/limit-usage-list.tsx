import { Text } from "@mantine/core";
import type { LimitUsageRow } from "@sluice/contract";
import { kindWords } from "./limit-usage-words.ts";
import { Meter } from "./meter.tsx";
import { OutlookText, Resets } from "./outlook.tsx";

/** The limits of one thing, one under the other. */
export function LimitUsageList({ rows }: { readonly rows: readonly LimitUsageRow[] }) {
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
