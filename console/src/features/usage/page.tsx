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

const CostsSection = lazy(() =>
  loadChunk(async () => ({ default: (await import("./costs-section.tsx")).CostsSection })),
);

const FocusSection = lazy(() =>
  loadChunk(async () => ({ default: (await import("./focus-section.tsx")).FocusSection })),
);

const ScheduledTab = lazy(() =>
  loadChunk(async () => ({ default: (await import("./scheduled/scheduled-tab.tsx")).ScheduledTab })),
);

const tabs = ["explore", "chargeback", "costs", "scheduled"] as const;

/** Usage of everything by any dimension: figures, chart, all rows, costs by team and month, costs that vendors reported, and scheduled reports. */
export default function UsagePage() {
  const workspace = useWorkspace();
  const [asked, setTab] = useUrlText("tab", "explore");
  const tab = tabs.find((each) => each === asked) ?? "explore";
  const view = useUsageView();
  return (
    <PageFrame
      title={t("usage.title")}
      actions={
        <>
          {(tab === "explore" || tab === "costs") && (
            <TimeRange fallback={usageRange} shown={["7d", "30d", "this_month", "last_month"]} />
          )}
          <SavedViews />
        </>
      }
    >
      <Tabs value={tab} onChange={(value) => setTab(value ?? "explore")}>
        <TabRow value={tab}>
          {tabs.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(`usage.tabs.${each}`)}
            </Tabs.Tab>
          ))}
        </TabRow>
      </Tabs>
      {workspace.none ? null : tab === "explore" ? (
        <>
          <UsageFilters view={view} />
          <UsageTotals view={view} />
          <ExploreSection view={view} />
          {view.by !== "none" && (view.by !== "tag" || view.tag !== "") && <RowsSection view={view} by={view.by} />}
        </>
      ) : (
        <Suspense>
          {tab === "costs" && <CostsSection span={view.span} />}
          {tab === "chargeback" && (
            <>
              <ChargebackSection />
              <FocusSection />
            </>
          )}
          {tab === "scheduled" && <ScheduledTab />}
        </Suspense>
      )}
    </PageFrame>
  );
}
