import { Tabs } from "@mantine/core";
import { NeedsWorkspace } from "../../components/needs-workspace.tsx";
import { PageFrame } from "../../components/page-frame.tsx";
import { TabRow } from "../../components/tab-row.tsx";
import { t } from "../../language/areas/guardrails.ts";
import { useUrlText } from "../../routes/search.ts";
import { useWorkspace } from "../../session/workspace.ts";
import { FindingsTab } from "./findings-tab.tsx";
import { GuardrailList } from "./guardrail-list.tsx";
import { TryTab } from "./try-tab.tsx";

/** The guardrails of a workspace or, for all workspaces, of the installation. */
export default function GuardrailsPage() {
  const workspace = useWorkspace();
  const [tab, setTab] = useUrlText("tab", "rules");
  return (
    <PageFrame title={t("guardrails.title")} description={t("guardrails.description")}>
      {workspace.none ? (
        <NeedsWorkspace why={t("guardrails.description")}>{() => null}</NeedsWorkspace>
      ) : (
        <Tabs value={tab} onChange={(next) => setTab(next ?? "rules")} keepMounted={false}>
          <TabRow value={tab}>
            <Tabs.Tab value="rules">{t("guardrails.tabs.rules")}</Tabs.Tab>
            <Tabs.Tab value="findings">{t("guardrails.tabs.findings")}</Tabs.Tab>
            {workspace.may("admin") && <Tabs.Tab value="try">{t("guardrails.tabs.try")}</Tabs.Tab>}
          </TabRow>
          <Tabs.Panel value="rules">
            <GuardrailList workspace={workspace.slug} />
          </Tabs.Panel>
          <Tabs.Panel value="findings">
            <FindingsTab workspace={workspace.path} />
          </Tabs.Panel>
          {workspace.may("admin") && (
            <Tabs.Panel value="try">
              <TryTab key={workspace.path} workspace={workspace.slug} />
            </Tabs.Panel>
          )}
        </Tabs>
      )}
    </PageFrame>
  );
}
