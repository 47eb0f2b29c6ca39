import type { RehearsalResult } from "@sluice/contract";
import { guardrailSides } from "@sluice/contract/words";
import type { Guardrail } from "#core/index.ts";
import { usableCheck } from "#directory/index.ts";
import { isLocating } from "#guardrails/index.ts";
import type { RehearsedGuardrail, TryGuardrails } from "#rehearsal/index.ts";
import { capturedReplay, capturesAtOnce } from "./captured-replay.ts";
import type { ConsoleDependencies } from "./dependencies.ts";
import { ReplayTally } from "./replay-tally.ts";

/** Captured requests that one guardrail examines. */
const capturesMax = 5_000;
const hourMs = 3_600_000;

type Dependencies = Pick<ConsoleDependencies, "reports" | "clock" | "bodies" | "configSnapshot">;
type Result = RehearsalResult["guardrails"][number];

/** Checks captured requests of a period with guardrails of a change, as their replay does. `workspaceId` null: every workspace. */
export function guardrailRehearsal(
  dependencies: Dependencies,
  { from, to, workspaceId }: { readonly from: number; readonly to: number; readonly workspaceId: string | null },
): TryGuardrails {
  const { reports, configSnapshot } = dependencies;
  const addPage = capturedReplay(dependencies);
  // Whole hours, like the numbers of calls.
  const span = { from: Math.floor(from / hourMs) * hourMs, to: Math.ceil(to / hourMs) * hourMs };
  const examine = async (
    rehearsed: RehearsedGuardrail,
    continues: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<Result> => {
    const guardrail = guardrailOf(rehearsed);
    const tally = new ReplayTally();
    const workspace =
      rehearsed.workspaceId === null ? undefined : configSnapshot().workspaces.get(rehearsed.workspaceId);
    const named = {
      name: guardrail.name,
      workspace: workspace === undefined ? null : { id: workspace.id, slug: workspace.slug },
      calls: await reports.callCount(guardrail, span),
    };
    const { check } = guardrail;
    if (!isLocating(check)) return { ...named, not_run: check.kind, ...tally.sums(), read_until: span.from };
    let [until, next, examined] = [span.to, null as string | null, 0];
    do {
      const page = await reports.capturedHeads(rehearsed.workspaceId ?? workspaceId, span, next, capturesAtOnce);
      await addPage(tally, guardrail, page.data, signal);
      examined += page.data.length;
      ({ next } = page);
      until = next === null ? span.from : (page.data.at(-1)?.at ?? until);
    } while (next !== null && examined < capturesMax && (await continues()));
    return { ...named, not_run: null, ...tally.sums(), read_until: until };
  };
  return async (guardrails, continues, signal) => {
    const results: Result[] = [];
    for (const guardrail of guardrails) results.push(await examine(guardrail, continues, signal));
    return results;
  };
}

function guardrailOf({ workspaceId, config, workspaces, groups, keys }: RehearsedGuardrail): Guardrail {
  const { name, check, action, on = guardrailSides, at = null, unreadable = "pass", stream = "window" } = config;
  return {
    ...{ id: "rehearsed", name, workspaceId, workspaces, groups, keys },
    ...{ on, at, check: usableCheck(check), action, onError: "pass", unreadable, stream, timeoutMs: 0, enforce: true },
  };
}
