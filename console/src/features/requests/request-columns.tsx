import { useMediaQuery } from "@mantine/hooks";
import type { RequestRow } from "@sluice/contract";
import { Fragment, useMemo } from "react";
import { formatCompact, formatUsd } from "../../client/format.ts";
import type { Column } from "../../components/data-table.tsx";
import { Duration, Money, Nothing, When } from "../../components/figures.tsx";
import { ModelName } from "../../components/vendors/vendor-logo.tsx";
import { t } from "../../language/areas/requests.ts";
import { endpointWords } from "./endpoint-words.ts";
import { GuardrailMarks } from "./guardrail-marks.tsx";
import { isFallback, modelOf, modelWords, requestedModelOf } from "./model-words.ts";
import { StatusCell } from "./outcome.tsx";
import { durationOf, type RequestGroup } from "./request-group.ts";

/** The ids of sortable columns are sort orders of the list. */
const columns = {
  time: {
    id: "at",
    header: t("requests.columns.time"),
    cell: (group) => <When at={group.at} />,
    sortBy: "gateway",
  },
  workspace: {
    id: "workspace",
    header: t("requests.columns.workspace"),
    cell: ({ last }) => last.workspace.slug || last.workspace.id,
  },
  result: {
    id: "result",
    header: t("requests.columns.result"),
    cell: ({ last }) => (
      <span className="nowrap">
        <StatusCell row={last} />
        <GuardrailMarks row={last} />
      </span>
    ),
  },
  model: {
    id: "model",
    header: t("requests.columns.model"),
    cell: ({ last }) => <ModelCell row={last} />,
  },
  key: {
    id: "key",
    header: t("requests.columns.key"),
    cell: ({ last }) => (
      <>
        {last.key.name || last.key.id} <ByActor row={last} />
      </>
    ),
  },
  person: {
    id: "person",
    header: t("requests.filters.person"),
    secondary: true,
    cell: ({ last: { person } }) =>
      person === null ? <Nothing word={t("requests.columns.noPerson")} /> : person.name || person.email || person.id,
  },
  group: { id: "group", header: t("requests.filters.group"), optional: true, cell: ({ last }) => last.group.name },
  provider: {
    id: "provider",
    header: t("requests.columns.provider"),
    cell: (group) => <ProviderTrail group={group} />,
  },
  endpoint: {
    id: "endpoint",
    header: t("requests.filters.endpoint"),
    optional: true,
    cell: ({ last }) => endpointWords[last.endpoint] ?? last.endpoint,
  },
  duration: {
    id: "total_ms",
    header: t("requests.columns.duration"),
    cell: (group) => <LatencyCell ms={durationOf(group)} />,
    sortBy: "gateway",
    align: "right",
  },
  firstToken: {
    id: "first-token",
    secondary: true,
    header: t("requests.columns.firstToken"),
    cell: ({ firstTokenMs }) => <Duration ms={firstTokenMs} />,
    align: "right",
  },
  tokens: {
    id: "tokens",
    secondary: true,
    header: t("requests.columns.tokens"),
    cell: (group) => <TokensCell group={group} />,
    sortBy: "gateway",
    align: "right",
  },
  cost: {
    id: "cost_usd",
    header: t("requests.columns.cost"),
    cell: (group) => <CostCell group={group} />,
    sortBy: "gateway",
    align: "right",
  },
  userAgent: {
    id: "user-agent",
    header: t("requests.attempt.program"),
    optional: true,
    cell: ({ last }) => last.user_agent,
  },
  tags: {
    id: "tags",
    header: t("requests.attempt.tags"),
    optional: true,
    cell: ({ last }) =>
      Object.entries(last.tags)
        .map(([name, value]) => `${name}=${value}`)
        .join(", "),
  },
  id: { id: "request-id", header: t("requests.columns.id"), optional: true, cell: ({ requestId }) => requestId },
} satisfies Record<string, Column<RequestGroup>>;

const { time, workspace, result, model, key, provider, duration, cost } = columns;
const usual: readonly Column<RequestGroup>[] = [
  ...[time, workspace, result, model, key, columns.person, columns.group, provider, columns.endpoint, duration],
  ...[columns.firstToken, columns.tokens, cost, columns.userAgent, columns.tags, columns.id],
];
/** The usual columns would push the cost off the screen. These two can still be chosen. */
const fewer = usual.map((column) =>
  column === columns.person || column === columns.firstToken ? { ...column, optional: true } : column,
);
/** On narrow screens a row becomes a card with the most important columns. */
const narrow: readonly Column<RequestGroup>[] = [time, workspace, model, key, result, duration, cost];
/** Next to a panel there is room for these. */
const few: readonly Column<RequestGroup>[] = [time, result, model, duration, cost];

/** The columns for requests of one workspace or of all, for the width of the screen. `nextToPanel`: a panel takes half of it. */
export function useRequestColumns(all: boolean, nextToPanel = false): readonly Column<RequestGroup>[] {
  const isNarrow = useMediaQuery("(max-width: 40rem)", false, { getInitialValueInEffect: false });
  const isWide = useMediaQuery("(min-width: 88rem)", true, { getInitialValueInEffect: false });
  return useMemo(() => {
    const shown = isNarrow ? narrow : nextToPanel ? few : isWide ? usual : fewer;
    return all ? shown : shown.filter((column) => column !== workspace);
  }, [isNarrow, nextToPanel, isWide, all]);
}

/** 100 % is a minute; the scale is logarithmic, since durations range from milliseconds to minutes. */
const wholeBarMs = 60_000;

function LatencyCell({ ms }: { readonly ms: number }) {
  const share = Math.min(1, Math.log1p(ms) / Math.log1p(wholeBarMs));
  return (
    <span className="latency">
      <span className="latency-track" aria-hidden="true">
        <span className="latency-bar" style={{ width: `${share * 100}%` }} />
      </span>
      <Duration ms={ms} />
    </span>
  );
}

/** The user who called in the console, where no secret is needed. */
function ByActor({ row: { actor } }: { readonly row: RequestRow }) {
  if (actor === null) return null;
  return (
    <span className="aside">{t("requests.columns.byActor", { name: actor.name || actor.email || actor.id })}</span>
  );
}

function ModelCell({ row }: { readonly row: RequestRow }) {
  const model = modelOf(row) ?? requestedModelOf(row);
  if (model === null) return modelWords(row);
  if (!isFallback(row)) return <ModelName model={model} />;
  return (
    <ModelName model={model}>
      {model} <span className="aside">{t("requests.columns.requestedAs", { name: row.requested_model })}</span>
    </ModelName>
  );
}

/** The providers that were tried, in order. Details of hidden failures are on the request's page. */
function ProviderTrail({ group }: { readonly group: RequestGroup }) {
  const { attempts } = group;
  const tried = attempts.filter((each) => each.provider !== "");
  if (tried.length === 0) return <Nothing word={t("requests.columns.noProvider")} />;
  const before = (tried[0]?.retry_index ?? 0) > 0;
  return (
    <>
      {before && <span className="aside">… → </span>}
      {tried.map((each, place) => (
        <Fragment key={each.attempt_id}>
          {place > 0 && <span className="aside"> → </span>}
          {place < tried.length - 1 ? <span className="aside">{each.provider}</span> : each.provider}
        </Fragment>
      ))}
    </>
  );
}

/** The cost of a pending background response follows later. */
function CostCell({ group: { costUsd, heldUsd } }: { readonly group: RequestGroup }) {
  if (heldUsd === null) return <Money usd={costUsd} aligned />;
  if (heldUsd === 0) return <Nothing word={t("requests.columns.costLater")} />;
  return (
    <span className="aside nowrap" title={t("requests.columns.heldHelp")}>
      {t("requests.columns.held", { amount: formatUsd(heldUsd) })}
    </span>
  );
}

function TokensCell({ group: { inputTokens, outputTokens } }: { readonly group: RequestGroup }) {
  if (inputTokens === 0 && outputTokens === 0) return <Nothing word={t("requests.columns.noTokens")} />;
  return (
    <span className="nowrap" title={t("requests.columns.tokensExact", { input: inputTokens, output: outputTokens })}>
      {formatCompact(inputTokens)} / {formatCompact(outputTokens)}
    </span>
  );
}
