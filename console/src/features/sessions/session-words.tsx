import { Tooltip } from "@mantine/core";
import type { RequestSession } from "@sluice/contract";
import { formatCompact } from "../../client/format.ts";
import { StatusBadge } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/sessions.ts";

type Source = RequestSession["source"];

const sourceWords: Readonly<Record<Source, string>> = {
  header: t("sessions.sources.header"),
  agent: t("sessions.sources.agent"),
  chain: t("sessions.sources.chain"),
  prefix: t("sessions.sources.prefix"),
};

const sourceHints: Readonly<Record<Source, string>> = {
  header: t("sessions.sourceHelp.header"),
  agent: t("sessions.sourceHelp.agent"),
  chain: t("sessions.sourceHelp.chain"),
  prefix: t("sessions.sourceHelp.prefix"),
};

/** Marks a session that no client named. */
export function InferredBadge({ source }: { readonly source: Source }) {
  if (source !== "prefix") return null;
  return <StatusBadge status="inferred" tone="off" label={sourceWords.prefix} hint={sourceHints.prefix} />;
}

export function SourceText({ source }: { readonly source: Source }) {
  return (
    <Tooltip label={sourceHints[source]} multiline maw={320}>
      <span>{sourceWords[source]}</span>
    </Tooltip>
  );
}

export function agentText({ agent }: Pick<RequestSession, "agent">): string {
  return agent === "" ? t("sessions.unknownAgent") : agent;
}

/** The page of a session. Its id is in the query, because clients may choose any characters. */
export function sessionLink({ key, session, workspace }: Pick<RequestSession, "key" | "session" | "workspace">) {
  const search = { session, workspace: workspace.slug };
  return { to: "/requests/sessions/$key", params: { key: key.id }, search } as const;
}

export function TokensText({ input, output }: { readonly input: number; readonly output: number }) {
  return (
    <span className="nowrap tabular">
      {formatCompact(input)} / {formatCompact(output)}
    </span>
  );
}
