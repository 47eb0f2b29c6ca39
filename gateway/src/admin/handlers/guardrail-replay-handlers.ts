import type { BodyOf, GuardrailReplay } from "@sluice/contract";
import { findingsDaysMax } from "@sluice/contract/console";
import { guardrailSides } from "@sluice/contract/words";
import { Failure, type Guardrail, invalidRequest } from "#core/index.ts";
import { usableCheck } from "#directory/index.ts";
import { isLocating } from "#guardrails/index.ts";
import { capturedReplay, capturesAtOnce } from "../captured-replay.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { ReplayTally } from "../replay-tally.ts";
import type { Handlers } from "./calls.ts";

/** One call examines captured requests for about so long. */
const replayMs = 2_000;
/** Calls of one process at a time: each keeps a thread and a database connection busy. */
const replaysMax = 2;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Runs a guardrail, as edited, over captured requests. */
export function guardrailReplayHandlers({ reports, people, clock, bodies }: ConsoleDependencies) {
  const addPage = capturedReplay({ reports, clock, bodies });
  let running = 0;

  return {
    "guardrails.replay": async ({ workspace, body, auditSource, signal }): Promise<GuardrailReplay> => {
      const workspaceId = workspace?.id ?? null;
      const guardrail = guardrailOf(workspaceId, body);
      const span = spanOf(body, clock.now());
      const { cursor = null } = body;
      const tally = new ReplayTally();
      const calls = cursor === null ? await reports.callCount(guardrail, span) : null;
      if (!isLocating(guardrail.check)) {
        const { kind: not_run } = guardrail.check;
        return { ...span, not_run, calls, ...tally.sums(), read_until: span.from, next: null };
      }
      if (running >= replaysMax) {
        const message = "Others are trying guardrails on captured requests. Try again in a moment.";
        throw new Failure("rate_limit_exceeded", message, { retryAfterMs: replayMs });
      }
      running++;
      try {
        // Access to captured content is audited.
        await people.note({ action: "view", object: "captured request search", workspaceId }, auditSource);
        const startMs = clock.monotonic();
        let until = span.to;
        let next = cursor;
        do {
          const page = await reports.capturedHeads(workspaceId, span, next, capturesAtOnce);
          await addPage(tally, guardrail, page.data, signal);
          ({ next } = page);
          until = next === null ? span.from : (page.data.at(-1)?.at ?? until);
        } while (next !== null && clock.monotonic() - startMs < replayMs);
        return { ...span, not_run: null, calls, ...tally.sums(), read_until: until, next };
      } finally {
        running--;
      }
    },
  } satisfies Partial<Handlers>;
}

function guardrailOf(workspaceId: string | null, body: BodyOf<"guardrails.replay">): Guardrail {
  const { check, action, on = guardrailSides, at = null, unreadable = "pass", stream = "window" } = body;
  const { workspaces = [], groups = [], keys = [] } = body;
  return {
    ...{ id: "replayed", name: "replayed", workspaceId, workspaces, groups, keys },
    ...{ on, at, check: usableCheck(check), action, onError: "pass", unreadable, stream, timeoutMs: 0, enforce: true },
  };
}

/** Whole hours, like the numbers of calls. */
function spanOf({ from, to }: BodyOf<"guardrails.replay">, now: number) {
  const end = Math.ceil((to ?? now + 1) / hourMs) * hourMs;
  const start = Math.floor((from ?? Math.max(0, end - 7 * dayMs)) / hourMs) * hourMs;
  if (start >= end) throw invalidRequest("from", "`from` must be before `to`.");
  if (end - start > findingsDaysMax * dayMs) {
    throw invalidRequest("from", `The time must not be longer than ${findingsDaysMax} days.`);
  }
  return { from: start, to: end };
}
