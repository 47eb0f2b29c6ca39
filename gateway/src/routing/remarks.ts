import type { Remark } from "@sluice/contract/console";
import { remarkSentence } from "@sluice/contract/words";

export type PlaceRemark = Remark<"place">;
export type StepRemark = Remark<"step">;

const causes: ReadonlySet<PlaceRemark["code"]> = new Set([
  "failures_in_a_row",
  "failure_share",
  "probe_failed",
  "refused_a_call",
  "upstream_asked_to_wait",
]);

/** A place's remarks in one line: the cause of a circuit's state follows after a colon. */
export function placeSentence(remarks: readonly PlaceRemark[]): string {
  return remarks.reduce((line, remark) => {
    const sentence = remarkSentence("place", remark);
    if (line === "") return sentence;
    return `${line}${causes.has(remark.code) ? ": " : "; "}${sentence}`;
  }, "");
}
