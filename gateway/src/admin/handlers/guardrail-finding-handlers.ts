import type { QueryOf } from "@sluice/contract";
import { findingsDaysMax } from "@sluice/contract/console";
import { Failure, withoutUndefined } from "#core/index.ts";
import type { GuardrailCheckFilter } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkPerson, visiblePerson } from "./callers.ts";
import { type ConsoleCall, type Handlers, pageSize, type StreamingCall } from "./calls.ts";

/** Calls for what guardrails found. */
export function guardrailFindingHandlers({ reports, clock }: Pick<ConsoleDependencies, "reports" | "clock">) {
  return {
    "guardrails.findings": async (call) => {
      const filter = checkFilterOf(call, call.query, clock.now());
      const { by = "verdict", step = filter.to - filter.from <= 3 * dayMs ? "hour" : "day" } = call.query;
      return await reports.guardrailFindings(filter, by, step === "hour" ? hourMs : dayMs);
    },
    "guardrails.checks": async (call) => {
      const { cursor = null, limit = pageSize } = call.query;
      const { data, next } = await reports.guardrailChecks(checkFilterOf(call, call.query, clock.now()), cursor, limit);
      return { data: [...data], next };
    },
  } satisfies Partial<Handlers>;
}

type Caller = Pick<ConsoleCall<"guardrails.checks"> | StreamingCall, "held" | "workspace"> &
  Pick<StreamingCall, "actor">;

/** Throws `forbidden` for another person's checks, and `invalid_request` for a time that is too long. */
export function checkFilterOf(
  caller: Caller,
  query: Omit<QueryOf<"guardrails.checks">, "cursor" | "limit">,
  now: number,
): GuardrailCheckFilter {
  checkPerson(caller, query.person);
  const { to = now + 1, from = Math.max(0, to - 7 * dayMs), guardrail, type, side, verdict, enforced } = query;
  if (from >= to) throw new Failure("invalid_request", "`from` must be before `to`.", { param: "from" });
  if (to - from > findingsDaysMax * dayMs) {
    const message = `The time must not be longer than ${findingsDaysMax} days.`;
    throw new Failure("invalid_request", message, { param: "from" });
  }
  return {
    ...{ workspaceId: caller.workspace?.id ?? null, from, to },
    ...withoutUndefined({ guardrailId: guardrail, type, side, verdict }),
    ...(enforced === undefined ? {} : { enforced: enforced === "true" }),
    ...withoutUndefined({
      keyId: query.key,
      personId: query.person,
      model: query.model,
      visiblePerson: visiblePerson(caller) ?? undefined,
    }),
  };
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
