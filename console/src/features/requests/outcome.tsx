import type { RequestRow } from "@sluice/contract";
import { Fragment } from "react";
import { formatCount } from "../../client/format.ts";
import { StatusBadge, type Tone, toneOf } from "../../components/status-badge.tsx";
import { t } from "../../language/areas/requests.ts";

export type Outcome = RequestRow["outcome"];

/** The label of each outcome of a request. */
export const outcomeWords: Readonly<Record<Outcome, string>> = {
  succeeded: t("requests.outcomes.succeeded"),
  failed: t("requests.outcomes.failed"),
  cancelled: t("requests.outcomes.cancelled"),
  interrupted: t("requests.outcomes.interrupted"),
  rejected: t("requests.outcomes.rejected"),
  pending: t("requests.outcomes.pending"),
};

export const outcomeHints: Readonly<Record<Outcome, string>> = {
  succeeded: t("requests.outcomeHelp.succeeded"),
  failed: t("requests.outcomeHelp.failed"),
  cancelled: t("requests.outcomeHelp.cancelled"),
  interrupted: t("requests.outcomeHelp.interrupted"),
  rejected: t("requests.outcomeHelp.rejected"),
  pending: t("requests.outcomeHelp.pending"),
};

export function outcomeTone(outcome: Outcome): Tone {
  return toneOf(outcome);
}

interface OutcomeProps {
  readonly row: Pick<RequestRow, "outcome" | "http_status" | "error_code" | "calls">;
}

/** The outcome; for failures also the error code or HTTP status, and how many alike there were. */
export function OutcomeCell({ row }: OutcomeProps) {
  return (
    <span className="outcome">
      <StatusBadge status={row.outcome} label={outcomeWords[row.outcome]} />
      <OutcomeCode row={row} />
      {row.calls > 1 && (
        <span className="outcome-code" title={t("requests.repeated")}>
          × {formatCount(row.calls)}
        </span>
      )}
    </span>
  );
}

/** A dot for the outcome, with the error code or HTTP status, and how many alike there were: one line in a dense list. */
export function StatusCell({ row }: OutcomeProps) {
  const { outcome, error_code: code, http_status: status, calls } = row;
  const words = code ?? (outcome === "pending" || status === 0 ? outcomeWords[outcome] : String(status));
  return (
    <span
      className="status-cell"
      title={`${outcomeWords[outcome]}: ${outcomeHints[outcome]}`}
      data-tone={outcomeTone(outcome)}
    >
      <span className="status-dot" aria-hidden="true" />
      <span className="unseen">{outcomeWords[outcome]} </span>
      {words}
      {calls > 1 && ` × ${formatCount(calls)}`}
    </span>
  );
}

function OutcomeCode({ row: { outcome, error_code: code, http_status: status } }: OutcomeProps) {
  const words = code ?? (outcome === "succeeded" || outcome === "pending" || status === 0 ? null : String(status));
  if (words === null) return null;
  const parts = words.split(/(?<=_)/);
  return (
    <span className="outcome-code">
      {parts.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one word never change places
        <Fragment key={place}>
          {/* In a narrow column it breaks behind an underscore. */}
          {place > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}
