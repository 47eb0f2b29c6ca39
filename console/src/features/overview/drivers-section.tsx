import { SimpleGrid } from "@mantine/core";
import { t } from "../../language/areas/overview.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { TopRows } from "./top-rows.tsx";
import { useMonth } from "./use-month.ts";

/** The models, keys and people with the highest cost this month, compared with the same time of the month before. */
export function DriversSection() {
  const { may } = useWorkspace();
  const { data } = useMonth();
  if (data === undefined) return null;
  const { from, to, previous } = data;
  const span = { from, to, compare_from: previous.from, compare_to: previous.to };
  // Months are in UTC, like budgets.
  const period = { range: "this_month", tz: "utc" };
  // Only users who manage people may see the spend of each.
  const ways = [...(["model", "key"] as const), ...(may("admin") ? (["person"] as const) : [])];
  return (
    <SimpleGrid cols={{ base: 1, md: ways.length }} spacing="md">
      {ways.map((by) => (
        <TopRows key={by} by={by} span={span} period={period} title={t("overview.drivers.title", { by })} />
      ))}
    </SimpleGrid>
  );
}
