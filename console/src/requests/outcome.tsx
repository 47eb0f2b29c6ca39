import type { RequestRow } from "@sluice/contract";
import { StatusBadge, type Tone, toneOf } from "../parts/status-badge.tsx";

export type Outcome = RequestRow["outcome"];

/** What became of a request, in the words that callers of the console read. */
export const outcomeWords: Readonly<Record<Outcome, string>> = {
  succeeded: "Succeeded",
  failed: "Failed",
  cancelled: "Cancelled",
  interrupted: "Interrupted",
  rejected: "Refused",
};

export const outcomeHints: Readonly<Record<Outcome, string>> = {
  succeeded: "The answer was delivered whole.",
  failed: "The upstream failed or refused.",
  cancelled: "The caller went away before the end.",
  interrupted: "The gateway stopped in the middle; what was seen until then is counted.",
  rejected: "Refused by the gateway before anything was sent upstream.",
};

export function outcomeTone(outcome: Outcome): Tone {
  return toneOf(outcome);
}

interface OutcomeProps {
  readonly row: Pick<RequestRow, "outcome" | "http_status" | "error_code">;
}

/** The outcome with its HTTP status and, when there is one, the error's code. */
export function OutcomeCell({ row }: OutcomeProps) {
  return (
    <span className="outcome">
      <StatusBadge status={row.outcome} label={outcomeWords[row.outcome]} />
      <span className="outcome-code">{row.error_code ?? row.http_status}</span>
    </span>
  );
}
