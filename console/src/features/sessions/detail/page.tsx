import type { RequestSession } from "@sluice/contract";
import { IconMessages } from "@tabler/icons-react";
import { useParams } from "@tanstack/react-router";
import { useMemo } from "react";
import { useCall } from "../../../api/use-call.ts";
import { usePages } from "../../../api/use-pages.ts";
import { formatDuration } from "../../../client/format.ts";
import { CopyText } from "../../../components/copy-button.tsx";
import { DataTable } from "../../../components/data-table.tsx";
import { EmptyState } from "../../../components/empty-state.tsx";
import { Facts } from "../../../components/facts.tsx";
import { Count, Money, Share, When } from "../../../components/figures.tsx";
import { PageFrame, type PageFrameProps } from "../../../components/page-frame.tsx";
import { ProblemAlert } from "../../../components/problem-alert.tsx";
import { RefreshButton } from "../../../components/refresh-button.tsx";
import { Section } from "../../../components/section.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { t } from "../../../language/areas/sessions.ts";
import { useUrlText } from "../../../routes/search.ts";
import { useWorkspace } from "../../../session/workspace.ts";
import { agentText, InferredBadge, SourceText, TokensText } from "../session-words.tsx";
import { ToolsSection } from "./tools-section.tsx";
import { turnColumns } from "./turn-columns.tsx";
import { turnsOf } from "./turns.ts";

const crumbs: NonNullable<PageFrameProps["crumbs"]> = [
  { label: t("sessions.requests"), link: { to: "/requests" } },
  { label: t("sessions.title"), link: { to: "/requests/sessions" } },
];
const pageRows = 100;
const requestSearch = {};

/** One conversation of an agent, request by request. */
export default function SessionPage() {
  const { key } = useParams({ from: "/requests/sessions/$key" });
  const [session] = useUrlText("session");
  const workspace = useWorkspace();
  const settings = { params: { workspace: workspace.path, key }, enabled: !workspace.none && session !== "" };
  const shown = useCall("sessions.show", { ...settings, query: { session } });
  const requests = usePages("sessions.requests", { ...settings, query: { session, limit: pageRows } });
  const turns = useMemo(() => (requests.rows === null ? null : turnsOf(requests.rows)), [requests.rows]);
  const columns = useMemo(() => turnColumns(Math.max(0, ...(turns ?? []).map(({ costUsd }) => costUsd))), [turns]);
  const { data } = shown;
  return (
    <PageFrame
      title={data === undefined ? t("sessions.one") : agentText(data)}
      crumbs={crumbs}
      badges={data !== undefined && <InferredBadge source={data.source} />}
      description={session !== "" && <CopyText value={session} label={t("sessions.detail.copy")} />}
      actions={
        <RefreshButton loading={requests.loading} onRefresh={() => Promise.all([shown.refetch(), requests.reload()])}>
          {t("sessions.refresh")}
        </RefreshButton>
      }
    >
      {shown.error !== null && <ProblemAlert problem={shown.error} onRetry={() => void shown.refetch()} />}
      {shown.error === null && (
        <>
          <Figures session={data} />
          {data !== undefined && <About session={data} />}
          {data !== undefined && <ToolsSection session={data} />}
          <Section title={t("sessions.detail.timeline")} description={t("sessions.detail.timelineHelp")} flush>
            <DataTable
              label={t("sessions.detail.timeline")}
              columns={columns}
              rows={{ ...requests, rows: turns }}
              rowKey={(turn) => turn.requestId}
              rowLink={(turn) => ({
                to: "/requests/$request",
                params: { request: turn.requestId },
                search: requestSearch,
              })}
              dimmed={({ last }) => last.endpoint.endsWith("count-tokens") || last.endpoint === "input-tokens"}
              empty={
                <EmptyState icon={<IconMessages />} title={t("sessions.detail.none")}>
                  {t("sessions.detail.noneHelp")}
                </EmptyState>
              }
            />
          </Section>
        </>
      )}
    </PageFrame>
  );
}

function Figures({ session }: { readonly session: RequestSession | undefined }) {
  return (
    <Stats label={t("sessions.detail.figures")}>
      <Stat
        label={t("sessions.columns.turns")}
        value={session && <Count value={session.turns} />}
        hint={t("sessions.columns.turnsHelp")}
      />
      <Stat label={t("sessions.columns.cost")} value={session && <Money usd={session.cost_usd} />} />
      <Stat
        label={t("sessions.columns.cacheReads")}
        value={session && <Share share={session.cache_read_share} />}
        hint={t("sessions.cacheHelp")}
      />
      <Stat
        label={t("sessions.columns.tokens")}
        value={session && <TokensText input={session.input_tokens} output={session.output_tokens} />}
      />
      <Stat label={t("sessions.columns.errors")} value={session && <Count value={session.errors} />} />
    </Stats>
  );
}

function About({ session }: { readonly session: RequestSession }) {
  const { workspace, key, group, person, models, source, first_at, last_at, requests } = session;
  return (
    <Section title={t("sessions.detail.facts")}>
      <Facts
        facts={[
          { name: t("sessions.columns.workspace"), value: workspace.slug },
          { name: t("sessions.detail.group"), value: group.name },
          { name: t("sessions.columns.key"), value: key.name || key.id },
          {
            name: t("sessions.columns.owner"),
            value: person === null ? t("sessions.detail.shared") : person.name || person.email,
          },
          { name: t("sessions.columns.models"), value: models.join(", ") },
          { name: t("sessions.columns.requests"), value: <Count value={requests} /> },
          { name: t("sessions.detail.first"), value: <When at={first_at} /> },
          { name: t("sessions.columns.last"), value: <When at={last_at} /> },
          { name: t("sessions.columns.length"), value: formatDuration(last_at - first_at) },
          { name: t("sessions.detail.source"), value: <SourceText source={source} /> },
        ]}
      />
    </Section>
  );
}
