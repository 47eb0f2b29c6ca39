import { Tabs } from "@mantine/core";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { t } from "../../language/areas/limits.ts";
import { useUrlText } from "../../routes/search.ts";
import { LimitUsageTab } from "./limit-usage-tab.tsx";
import { NoticesTab } from "./notices-tab.tsx";

/** How far every limit and budget is used, and who is told before one ends. */
export default function LimitsPage() {
  const [tab, setTab] = useUrlText("tab", "standing");
  return (
    <PageFrame title={t("limits.limitsAndBudgets")} description={t("limits.aCallMustFitInto")}>
      <Tabs value={tab} onChange={(next) => setTab(next ?? "standing")} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="standing">{t("limits.howFarUsed")}</Tabs.Tab>
          <Tabs.Tab value="notices">{t("limits.notices")}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="standing">
          <LimitUsageTab />
        </Tabs.Panel>
        <Tabs.Panel value="notices">
          <NeedsWorkspace why={t("limits.aNoticeWatchesTheBudgets")}>
            {(slug) => <NoticesTab key={slug} workspace={slug} />}
          </NeedsWorkspace>
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}
