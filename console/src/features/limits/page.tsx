import { Tabs } from "@mantine/core";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/limits.ts";
import { useUrlText } from "../../routes/search.ts";
import { AlertsTab } from "./alerts-tab.tsx";
import { LimitUsageTab } from "./limit-usage-tab.tsx";

/** Usage of all limits and budgets, and alerts on them. */
export default function LimitsPage() {
  const [tab, setTab] = useUrlText("tab", "standing");
  return (
    <PageFrame title={t("limits.title")} description={t("limits.description")}>
      <Tabs value={tab} onChange={(next) => setTab(next ?? "standing")} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="standing">{t("limits.usage.title")}</Tabs.Tab>
          <Tabs.Tab value="notices">{t("limits.alert.title")}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="standing">
          <LimitUsageTab />
        </Tabs.Panel>
        <Tabs.Panel value="notices">
          <NeedsWorkspace why={t("limits.alert.needsWorkspace")}>
            {(slug) => <AlertsTab key={slug} workspace={slug} />}
          </NeedsWorkspace>
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}
