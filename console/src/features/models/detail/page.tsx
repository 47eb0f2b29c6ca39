import { Button, Group, Skeleton, Stack, Tabs } from "@mantine/core";
import type { ConsoleModel } from "@sluice/contract";
import { Link, useParams } from "@tanstack/react-router";
import { useCall } from "../../../api/use-call.ts";
import { formatDay } from "../../../client/format.ts";
import { ManagedByFile } from "../../../components/managed-by-file.tsx";
import { PageFrame } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { Section } from "../../../components/section.tsx";
import { Snippets } from "../../../components/snippets.tsx";
import { StatusBadge } from "../../../components/status-badge.tsx";
import { TabRow } from "../../../components/tab-row.tsx";
import { t } from "../../../language/areas/models.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useSession } from "../../../session/session-context.tsx";
import { useWorkspace } from "../../../session/workspace.ts";
import { columnLabels, isUnpriced, typeWords } from "../../catalog/price-words.ts";
import { ComparePanel } from "./compare-panel.tsx";
import { ModelFigures } from "./model-figures.tsx";
import { PricePanel } from "./price-panel.tsx";
import { PriceTable } from "./price-table.tsx";
import { RemoveModel } from "./remove-model.tsx";
import { ServingPanel } from "./serving-panel.tsx";
import { UsagePanel } from "./usage-panel.tsx";

export default function ModelPage() {
  const { model } = useParams({ from: "/models/$model" });
  return <OneModel key={model} name={model} />;
}

const crumbs = [{ label: t("models.title"), link: { to: "/models", search: {} } }] as const;
const refreshMs = 15_000;

/** A model: its deployments, price and example calls. */
function OneModel({ name }: { readonly name: string }) {
  const mayChange = useSession().may("administrator");
  const workspace = useWorkspace();
  const query = useCall("models.show", { params: { model: name }, everyMs: refreshMs });
  const model = query.data;
  if (model === undefined) {
    return (
      <PageFrame title={name} crumbs={crumbs}>
        {query.error === null ? <Waiting /> : <ProblemAlert problem={query.error} onRetry={() => query.refetch()} />}
      </PageFrame>
    );
  }
  return (
    <PageFrame
      title={name}
      crumbs={crumbs}
      badges={
        <Group gap="xs">
          {isUnpriced(model.price) && <StatusBadge status="unpriced" tone="warn" label={t("models.noPrice")} />}
          {mayChange && model.unpriced_usage.length > 0 && (
            <StatusBadge
              status="partly-priced"
              tone="warn"
              label={t("models.partlyPriced.filter")}
              hint={columnLabels(model.unpriced_usage)}
            />
          )}
          {model.deprecated && (
            <StatusBadge
              status="deprecated"
              tone="warn"
              label={t("models.deprecated")}
              hint={
                model.retires_at === null
                  ? t("models.deprecatedHelp")
                  : t("models.retires", { day: formatDay(model.retires_at) })
              }
            />
          )}
          <ManagedByFile by={model.managed_by} />
        </Group>
      }
      description={aboutWords(model)}
      actions={
        <>
          {mayChange && model.managed_by !== "file" && <RemoveModel name={name} />}
          <Button
            variant="default"
            renderRoot={(props) => <Link to="/requests" search={{ model: name, range: "7d" }} {...props} />}
          >
            {t("models.viewRequests")}
          </Button>
          {workspace.may("member") && (
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/playground" search={{ model: name }} {...props} />}
            >
              {t("models.openInPlayground")}
            </Button>
          )}
        </>
      }
    >
      {mayChange && <ModelFigures model={model} />}
      <ModelTabs model={model} mayChange={mayChange} />
    </PageFrame>
  );
}

function ModelTabs({ model, mayChange }: { readonly model: ConsoleModel; readonly mayChange: boolean }) {
  const { answer } = useSession();
  const { none } = useWorkspace();
  const tabs = [...(none ? [] : ["usage", "compare"]), ...(mayChange ? ["serving"] : []), "price", "call"];
  const [first = "call"] = tabs;
  const [urlTab, setTab] = useUrlText("tab", first);
  const tab = tabs.includes(urlTab) ? urlTab : first;
  return (
    // Keeps input while another tab is open.
    <Tabs value={tab} onChange={(next) => setTab(next ?? "")} keepMounted>
      <TabRow value={tab}>
        {!none && <Tabs.Tab value="usage">{t("models.tabs.usage")}</Tabs.Tab>}
        {mayChange && <Tabs.Tab value="serving">{t("models.tabs.serving")}</Tabs.Tab>}
        <Tabs.Tab value="price">{t("models.tabs.price")}</Tabs.Tab>
        <Tabs.Tab value="call">{t("models.tabs.call")}</Tabs.Tab>
        {!none && <Tabs.Tab value="compare">{t("models.tabs.compare")}</Tabs.Tab>}
      </TabRow>
      {!none && <Tabs.Panel value="usage">{tab === "usage" && <UsagePanel model={model} />}</Tabs.Panel>}
      {!none && <Tabs.Panel value="compare">{tab === "compare" && <ComparePanel model={model} />}</Tabs.Panel>}
      {mayChange && (
        <Tabs.Panel value="serving">
          <ServingPanel model={model} />
        </Tabs.Panel>
      )}
      <Tabs.Panel value="price">
        {mayChange ? (
          <PricePanel model={model} />
        ) : (
          <Section title={t("models.price.title")} flush>
            <PriceTable price={model.price} />
          </Section>
        )}
      </Tabs.Panel>
      <Tabs.Panel value="call">
        <Section
          title={t("models.call.title")}
          description={
            model.endpoints.length === 0
              ? t("models.call.none")
              : t("models.call.endpoints", { endpoints: model.endpoints.join(", ") })
          }
        >
          <Snippets baseUrl={answer.public_url} apiKey={null} model={model.name} type={model.type} />
        </Section>
      </Tabs.Panel>
    </Tabs>
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

/** A provider type such as `openai-compatible` owns no model: it is only the default. */
function aboutWords({ type, owned_by: owner }: Pick<ConsoleModel, "type" | "owned_by">): string {
  if (owner === "" || owner.endsWith("-compatible")) return t("models.detail.aboutType", { type: typeWords[type] });
  return t("models.detail.about", { type: typeWords[type], owner });
}
