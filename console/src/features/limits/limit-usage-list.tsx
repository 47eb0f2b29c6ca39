import { Text } from "@mantine/core";
import type { LimitUsageRow } from "@sluice/contract";
import { StatusBadge } from "../../components/status-badge.tsx";
import { Rich, t } from "../../language/areas/limits.ts";
import { kindWords } from "./limit-usage-words.ts";
import { Meter } from "./meter.tsx";
import { OutlookText, Resets } from "./outlook.tsx";

/** The limits of one object, as a vertical list. */
export function LimitUsageList({ rows }: { readonly rows: readonly LimitUsageRow[] }) {
  return (
    <ul className="plain-list standings">
      {rows.map((row) => (
        <li key={`${row.kind} ${row.period}`}>
          <Text size="sm" fw={500} component="div">
            {kindWords(row)} <LimitBadge row={row} />
          </Text>
          <Meter row={row} />
          <Text size="xs" c="dimmed" component="div" className="standing-notes">
            <span>
              <Rich text="limits.resetsAt" tags={{ when: () => <Resets row={row} /> }} />
            </span>
            {row.kind === "budget" && <OutlookText row={row} />}
          </Text>
        </li>
      ))}
    </ul>
  );
}

/** Whether the limit refuses requests now, or is in shadow mode. */
export function LimitBadge({ row: { enforce, exhausted } }: { readonly row: LimitUsageRow }) {
  if (!enforce) {
    return <StatusBadge status="shadow" tone="off" label={t("limits.shadow.badge")} hint={t("limits.shadow.help")} />;
  }
  if (!exhausted) return null;
  return <StatusBadge status="exhausted" tone="bad" label={t("limits.exhausted")} />;
}
