import type { ReplyFacts } from "../dialect.ts";
import { errorText, invalidReply } from "../errors/upstream-errors.ts";
import { valueAt } from "../json/scan.ts";
import { skimObject } from "../json/skim.ts";
import { parseFirst, textOf } from "../json/value.ts";
import { readServed } from "../usage/read-served.ts";
import { noServerTools } from "../usage/reading.ts";
import { continuationId } from "./continuation.ts";
import { estimateContent } from "./request.ts";
import { toolUseInSteps } from "./steps.ts";
import { readInteractionUsage } from "./usage.ts";

const replyMembers: ReadonlySet<string> = new Set([
  ...["id", "status", "model", "usage", "service_tier", "steps", "error", "environment_id", "continuation_token"],
]);

/** Reads an interaction. A failed one is an answer, too; a running one has used nothing yet. */
export function readInteractionReply(body: Uint8Array): ReplyFacts {
  const members = skimObject(body, 0, body.length, replyMembers);
  if (members === null) return readWrapped(body);
  const member = (name: string): unknown => {
    try {
      return valueAt(body, members.get(name));
    } catch (thrown) {
      throw invalidReply(why, thrown);
    }
  };
  const status = textOf(member("status"));
  if (status === null) {
    if (!members.has("error")) throw invalidReply(why);
    return { usage: null, errorMessage: errorText(member("error")), outputEstimate: 0, id: null };
  }
  const steps = members.get("steps");
  const isRunning = runningStatuses.has(status);
  const reading = readInteractionUsage(
    member("usage"),
    steps === undefined ? noServerTools : toolUseInSteps(body, steps),
  );
  const estimate = steps === undefined || steps.end - steps.start <= "[]".length ? 0 : estimateContent(body, steps);
  const isReported = reading !== null && reading.missingSide === undefined;
  return {
    usage: isRunning ? null : reading,
    served: isRunning
      ? undefined
      : readServed({ model: member("model"), service_tier: member("service_tier") }, member("usage")),
    errorMessage: null,
    outputEstimate: isReported || isRunning ? 0 : estimate,
    id: textOf(member("id")),
    status,
    createdIds: createdIds(member("environment_id"), member("continuation_token")),
    // Steps have no ids. An empty list means that nothing was generated.
    ...(estimate === 0 ? { items: [] } : {}),
  };
}

export const runningStatuses: ReadonlySet<string> = new Set(["queued", "in_progress"]);

/** Ids of other objects that later calls may name. */
export function createdIds(environment: unknown, token: unknown): readonly string[] {
  const ids: string[] = [];
  if (typeof environment === "string" && environment !== "") ids.push(environment);
  if (typeof token === "string" && token !== "") ids.push(continuationId(token));
  return ids;
}

/** Google's front end may wrap an error in an array. */
function readWrapped(body: Uint8Array): ReplyFacts {
  const error = parseFirst(body)?.["error"];
  if (error === undefined) throw invalidReply(why);
  return { usage: null, errorMessage: errorText(error), outputEstimate: 0, id: null };
}

const why = "is not an interaction";
