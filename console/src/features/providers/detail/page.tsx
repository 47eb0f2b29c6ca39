import { Group, Skeleton, Stack, Tabs } from "@mantine/core";
import { useParams } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { TabRow } from "../../../components/tab-row.tsx";
import { t } from "../../../language/areas/providers.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { SourcePanel } from "../../bill/source-panel.tsx";
import { ForAdministrators } from "../../catalog/for-administrators.tsx";
import { HealthBadge } from "../../catalog/health-badge.tsx";
import { useKinds } from "../../catalog/use-kinds.ts";
import { ImportPanel } from "./import-panel.tsx";
import { OverviewPanel } from "./overview-panel.tsx";
import { ProviderActions } from "./provider-actions.tsx";
import { SettingsPanel } from "./settings-panel.tsx";
import { TestPanel } from "./test-panel.tsx";

export default function ProviderPage() {
  const { provider } = useParams({ from: "/providers/$provider" });
  if (!useSession().may("administrator")) return <ForAdministrators title={provider} />;
  return <OneProvider key={provider} id={provider} />;
}

const crumbs = [{ label: t("providers.title"), link: { to: "/providers", search: {} } }] as const;
const refreshMs = 10_000;
const tabs = [
  { value: "overview", label: t("providers.tabs.overview") },
  { value: "test", label: t("providers.tabs.test") },
  { value: "import", label: t("providers.import.title") },
  { value: "settings", label: t("providers.tabs.settings") },
  { value: "bill", label: t("providers.tabs.bill") },
] as const;

/** One provider: health, test, models and settings. */
function OneProvider({ id }: { readonly id: string }) {
  const [urlTab, setTab] = useUrlText("tab", "overview");
  const tab = tabs.find(({ value }) => value === urlTab)?.value ?? "overview";
  const { kinds, kindOf, titleOf } = useKinds();
  const query = useCall("providers.show", { params: { provider: id }, everyMs: refreshMs });
  const provider = query.data;
  if (provider === undefined || kinds === null) {
    return (
      <PageFrame title={id} crumbs={crumbs}>
        {query.error === null ? <Waiting /> : <ProblemAlert problem={query.error} onRetry={() => query.refetch()} />}
      </PageFrame>
    );
  }
  const form = kindOf(provider.kind);
  // The demo provider has no bill.
  const shownTabs = tabs.filter(({ value }) => value !== "bill" || provider.kind !== "demo");
  return (
    <PageFrame
      title={id}
      crumbs={crumbs}
      badges={
        <Group gap="xs">
          <HealthBadge health={provider.health} enabled={provider.enabled} />
          <ManagedByFile by={provider.managed_by} />
        </Group>
      }
      description={t("providers.about", { kind: titleOf(provider.kind), base_url: provider.base_url })}
      actions={<ProviderActions provider={provider} />}
    >
      <Tabs value={tab} onChange={(next) => setTab(next ?? "")} keepMounted={false}>
        <TabRow value={tab}>
          {shownTabs.map(({ value, label }) => (
            <Tabs.Tab key={value} value={value}>
              {label}
            </Tabs.Tab>
          ))}
        </TabRow>
        <Tabs.Panel value="overview">
          <OverviewPanel provider={provider} />
        </Tabs.Panel>
        <Tabs.Panel value="test">
          <TestPanel provider={provider} />
        </Tabs.Panel>
        <Tabs.Panel value="import">
          <ImportPanel provider={provider} form={form} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <SettingsPanel provider={provider} form={form} />
        </Tabs.Panel>
        <Tabs.Panel value="bill">
          <SourcePanel provider={provider} />
        </Tabs.Panel>
      </Tabs>
    </PageFrame>
  );
}

function Waiting() {
  return (
    <Stack gap="md" aria-busy>
      <Skeleton height={36} maw={380} />
      <Skeleton height={88} />
      <Skeleton height={220} />
    </Stack>
  );
}
