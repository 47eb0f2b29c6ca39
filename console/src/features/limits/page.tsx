import { Tabs } from "@mantine/core";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { useUrlText } from "../../routes/search.ts";
import { LimitUsageTab } from "./limit-usage-tab.tsx";
import { NoticesTab } from "./notices-tab.tsx";

/** How far every limit and budget is used, and who is told before one ends. */
export default function LimitsPage() {
  const [tab, setTab] = useUrlText("tab", "standing");
  return (
    <PageFrame
      title="Limits and budgets"
      description="A call must fit into the limits of its workspace, its group and its key. They are set where those are."
    >
      <Tabs value={tab} onChange={(next) => setTab(next ?? "standing")} keepMounted={false}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="standing">How far used</Tabs.Tab>
          <Tabs.Tab value="notices">Notices</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="standing">
          <LimitUsageTab />
        </Tabs.Panel>
        <Tabs.Panel value="notices">
          <NeedsWorkspace why="A notice watches the budgets of one workspace.">
            {(slug) => <NoticesTab key={slug} workspace={slug} />}
          </NeedsWorkspace>
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}
