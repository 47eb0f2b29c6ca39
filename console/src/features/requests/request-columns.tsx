import { useMediaQuery } from "@mantine/hooks";
import type { RequestRow } from "@sluice/contract";
import { Fragment } from "react";
import { formatCompact, formatUsd } from "../../client/format.ts";
import type { Column } from "../../components/data-table.tsx";
import { Duration, Money, Nothing, When } from "../../components/figures.tsx";
import { ModelName } from "../../components/vendors/vendor-logo.tsx";
import { t } from "../../language/areas/requests.ts";
import { isFallback, modelWords } from "./model-words.ts";
import { OutcomeCell } from "./outcome.tsx";
import { durationOf, type RequestGroup } from "./request-group.ts";

const time: Column<RequestGroup> = {
  id: "time",
  header: t("requests.columns.time"),
  cell: (group) => <When at={group.at} />,
};
const workspace: Column<RequestGroup> = {
  id: "workspace",
  header: t("requests.columns.workspace"),
  cell: ({ last }) => <span className="short-name">{last.workspace.slug || last.workspace.id}</span>,
};
const model: Column<RequestGroup> = {
  id: "model",
  header: t("requests.columns.model"),
  cell: ({ last }) => (
    <ModelName model={last.model || last.requested_model}>
      <span className="model-name">
        <ModelCell row={last} />
      </span>
    </ModelName>
  ),
};
const key: Column<RequestGroup> = {
  id: "key",
  header: t("requests.columns.key"),
  cell: ({ last }) => (
    <span className="short-name">
      {last.key.name || last.key.id} <ByActor row={last} />
    </span>
  ),
};
const provider: Column<RequestGroup> = {
  id: "provider",
  header: t("requests.columns.provider"),
  cell: (group) => (
    <span className="short-name">
      <ProviderTrail group={group} />
    </span>
  ),
};
const result: Column<RequestGroup> = {
  id: "result",
  header: t("requests.columns.result"),
  cell: ({ last }) => <OutcomeCell row={last} />,
};
const duration: Column<RequestGroup> = {
  id: "duration",
  header: t("requests.columns.duration"),
  cell: (group) => <Duration ms={durationOf(group)} />,
  align: "right",
};
const firstToken: Column<RequestGroup> = {
  id: "first-token",
  secondary: true,
  header: t("requests.columns.firstToken"),
  cell: ({ firstTokenMs }) => <Duration ms={firstTokenMs} />,
  align: "right",
};
const tokens: Column<RequestGroup> = {
  id: "tokens",
  secondary: true,
  header: t("requests.columns.tokens"),
  cell: (group) => <TokensCell group={group} />,
  align: "right",
};
const cost: Column<RequestGroup> = {
  id: "cost",
  header: t("requests.columns.cost"),
  cell: (group) => <CostCell group={group} />,
  align: "right",
};

const wide: readonly Column<RequestGroup>[] = [time, model, key, provider, result, duration, firstToken, tokens, cost];
const wideOfAll: readonly Column<RequestGroup>[] = [time, workspace, ...wide.slice(1)];
/** On narrow screens a row becomes a card with the most important columns. */
const narrow: readonly Column<RequestGroup>[] = [time, model, key, result, duration, cost];
const narrowOfAll: readonly Column<RequestGroup>[] = [time, workspace, ...narrow.slice(1)];

/** The columns for requests of one workspace or of all, for the width of the screen. */
export function useRequestColumns(all: boolean): readonly Column<RequestGroup>[] {
  const isNarrow = useMediaQuery("(max-width: 40rem)", false, { getInitialValueInEffect: false });
  if (isNarrow) return all ? narrowOfAll : narrow;
  return all ? wideOfAll : wide;
}

/** Who called in the console, where no secret is needed. */
function ByActor({ row: { actor } }: { readonly row: RequestRow }) {
  if (actor === null) return null;
  return (
    <span className="aside">{t("requests.columns.byActor", { name: actor.name || actor.email || actor.id })}</span>
  );
}

function ModelCell({ row }: { readonly row: RequestRow }) {
  if (!isFallback(row)) return modelWords(row);
  return (
    <>
      {row.model} <span className="aside">{t("requests.columns.requestedAs", { name: row.requested_model })}</span>
    </>
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
