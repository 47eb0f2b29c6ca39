import { Tabs } from "@mantine/core";
import { everyWorkspace } from "@sluice/contract";
import { PageFrame } from "../../components/page-frame.tsx";
import { TabRow } from "../../components/tab-row.tsx";
import { t } from "../../language/areas/alerts.ts";
import { useUrlText } from "../../routes/search.ts";
import { AlertList } from "./alert-list.tsx";
import { ChannelsTab } from "./channels-tab.tsx";
import { RulesTab } from "./rules-tab.tsx";

/** Alerts of every workspace that the user may see, or of the one in the URL. */
export default function AlertsPage() {
  const [tab, setTab] = useUrlText("tab", "open");
  const [workspaceText] = useUrlText("workspace");
  const workspace = workspaceText === "" || workspaceText === everyWorkspace ? null : workspaceText;
  return (
    <PageFrame title={t("alerts.title")} description={t("alerts.description")}>
      <Tabs value={tab} onChange={(next) => setTab(next ?? "open")} keepMounted={false}>
        <TabRow value={tab}>
          <Tabs.Tab value="open">{t("alerts.tabs.open")}</Tabs.Tab>
          <Tabs.Tab value="history">{t("alerts.tabs.history")}</Tabs.Tab>
          <Tabs.Tab value="rules">{t("alerts.tabs.rules")}</Tabs.Tab>
          <Tabs.Tab value="channels">{t("alerts.tabs.channels")}</Tabs.Tab>
        </TabRow>
        <Tabs.Panel value="open">
          <AlertList isResolved={false} workspace={workspace} />
        </Tabs.Panel>
        <Tabs.Panel value="history">
          <AlertList isResolved workspace={workspace} />
        </Tabs.Panel>
        <Tabs.Panel value="rules">
          <RulesTab workspace={workspace} />
        </Tabs.Panel>
        <Tabs.Panel value="channels">
          <ChannelsTab workspace={workspace} />
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}
