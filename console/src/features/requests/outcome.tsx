import type { RequestRow } from "@sluice/contract";
import { Fragment } from "react";
import { StatusBadge, type Tone, toneOf } from "../../components/status-badge.tsx";

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
  interrupted: "The gateway ended it in the middle; what was seen until then is counted.",
  rejected: "Refused by the gateway before anything was sent upstream.",
};

export function outcomeTone(outcome: Outcome): Tone {
  return toneOf(outcome);
}

interface OutcomeProps {
  readonly row: Pick<RequestRow, "outcome" | "http_status" | "error_code" | "calls">;
}

/** The outcome; of what went wrong the error's code too, or its HTTP status, and how many calls it was. */
export function OutcomeCell({ row }: OutcomeProps) {
  return (
    <span className="outcome">
      <StatusBadge status={row.outcome} label={outcomeWords[row.outcome]} />
      <OutcomeCode row={row} />
      {row.calls > 1 && (
        <span className="outcome-code" title="Refusals of one key in one second that are alike are one row.">
          × {row.calls.toLocaleString("en-US")}
        </span>
      )}
    </span>
  );
}

function OutcomeCode({ row: { outcome, error_code: code, http_status: status } }: OutcomeProps) {
  const words = code ?? (outcome === "succeeded" || status === 0 ? null : String(status));
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
