import type { GuardrailSide } from "@sluice/contract/words";
import { Failure, type Guardrail, type GuardrailVerdict } from "#core/index.ts";
import type { Tally } from "./inspect.ts";

/** The result of one guardrail for the request or the answer of a call. Never contains the text that was found. */
export interface CheckRecord {
  readonly guardrail: Guardrail;
  readonly side: GuardrailSide;
  /** With `enforce: false`, the verdict that it would have had. */
  readonly verdict: GuardrailVerdict;
  /** Findings by type. */
  readonly counts: Readonly<Record<string, number>>;
  /** Members of the body in which something was found; at most ten. */
  readonly paths: readonly string[];
  /** Findings in signed texts, which cannot be masked. */
  readonly unmasked: number;
  /** Media and encrypted parts, which were not checked. */
  readonly unreadable: number;
  readonly durationMs: number;
  /** Why the check failed; null: it did not. */
  readonly error: string | null;
}

/** `tally`: null if nothing was found. */
export function recordOf(
  guardrail: Guardrail,
  tally: Tally | null,
  side: GuardrailSide,
  { unreadable, durationMs }: Pick<CheckRecord, "unreadable" | "durationMs">,
): CheckRecord {
  const isBlocked = (tally !== null && tally.inFiles > 0) || (unreadable > 0 && guardrail.unreadable === "block");
  return {
    guardrail,
    side,
    verdict: isBlocked ? "blocked" : tally === null ? "passed" : verdicts[guardrail.action],
    counts: tally === null ? nothing : Object.fromEntries(tally.counts),
    paths: tally === null ? nowhere : tally.paths,
    unmasked: tally === null ? 0 : tally.unmasked,
    unreadable,
    durationMs,
    error: null,
  };
}

const nothing: CheckRecord["counts"] = {};
const nowhere: CheckRecord["paths"] = [];

export function failedRecord(
  guardrail: Guardrail,
  side: GuardrailSide,
  thrown: unknown,
  durationMs: number,
): CheckRecord {
  const error = thrown instanceof Error ? thrown.message : String(thrown);
  return { guardrail, side, verdict: "failed", counts: {}, paths: [], unmasked: 0, unreadable: 0, durationMs, error };
}

const verdicts = { block: "blocked", mask: "masked", flag: "flagged" } as const;

/** The failure of a call that a guardrail refuses; null: it is not refused. */
export function refusalBy({ guardrail, side, verdict, counts, paths, unreadable }: CheckRecord): Failure | null {
  const { name, enforce, onError } = guardrail;
  if (!enforce) return null;
  const subject = side === "input" ? "request" : "answer";
  const details = { guardrail: name };
  if (verdict === "failed" && onError === "block") {
    const message = `The ${subject} could not be checked by the guardrail "${name}". Try again.`;
    return new Failure("guardrail_failed", message, { details });
  }
  if (verdict !== "blocked") return null;
  const found = Object.entries(counts).map(([type, count]) => (count === 1 ? type : `${count} × ${type}`));
  const what =
    found.length === 0 ? (unreadable > 0 ? "contents that cannot be checked" : "something") : found.join(", ");
  const where = paths.length === 0 ? "" : ` in ${paths.join(", ")}`;
  const message = `The guardrail "${name}" refused the ${subject}: it found ${what}${where}.`;
  return new Failure("guardrail_blocked", message, { details });
}

/** Like `pii=masked(2), keys=passed`. Shadowed guardrails are not shown to callers. */
export function guardrailsHeader(records: readonly CheckRecord[]): string {
  let header = "";
  for (const { guardrail, verdict, counts } of records) {
    if (!guardrail.enforce) continue;
    let found = 0;
    for (const type in counts) found += counts[type] ?? 0;
    header += `${header === "" ? "" : ", "}${guardrail.name}=${verdict}${found === 0 ? "" : `(${found})`}`;
  }
  return header;
}
