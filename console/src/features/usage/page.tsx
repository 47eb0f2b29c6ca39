import { Tabs } from "@mantine/core";
import { lazy, Suspense } from "react";
import { PageFrame } from "../../components/page-frame.tsx";
import { TabRow } from "../../components/tab-row.tsx";
import { TimeRange } from "../../components/time-range.tsx";
import { t } from "../../language/areas/usage.ts";
import { loadChunk } from "../../routes/load-chunk.ts";
import { useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { ExploreSection } from "./explore-section.tsx";
import { RowsSection } from "./rows-section.tsx";
import { SavedViews } from "./saved-views.tsx";
import { UsageFilters } from "./usage-filters.tsx";
import { UsageTotals } from "./usage-totals.tsx";
import { usageRange, useUsageView } from "./usage-view.ts";

const ChargebackSection = lazy(() =>
  loadChunk(async () => ({ default: (await import("./chargeback-section.tsx")).ChargebackSection })),
);

/** Usage of everything by any dimension: figures, chart, all rows, and costs by team and month. */
export default function UsagePage() {
  const workspace = useWorkspace();
  const [tab, setTab] = useUrlText("tab", "explore");
  const view = useUsageView();
  const explores = tab !== "chargeback";
  return (
    <PageFrame
      title={t("usage.title")}
      actions={
        <>
          {explores && <TimeRange fallback={usageRange} shown={["7d", "30d", "this_month", "last_month"]} />}
          <SavedViews />
        </>
      }
    >
      <Tabs value={explores ? "explore" : "chargeback"} onChange={(value) => setTab(value ?? "explore")}>
        <TabRow value={tab}>
          <Tabs.Tab value="explore">{t("usage.tabs.explore")}</Tabs.Tab>
          <Tabs.Tab value="chargeback">{t("usage.tabs.chargeback")}</Tabs.Tab>
        </TabRow>
      </Tabs>
      {workspace.none ? null : explores ? (
        <>
          <UsageFilters view={view} />
          <UsageTotals view={view} />
          <ExploreSection view={view} />
          {view.by !== "none" && (view.by !== "tag" || view.tag !== "") && <RowsSection view={view} by={view.by} />}
        </>
      ) : (
        <Suspense>
          <ChargebackSection />
        </Suspense>
      )}
    </PageFrame>
  );
}
