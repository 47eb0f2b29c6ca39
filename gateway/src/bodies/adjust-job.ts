import { type OutboundDraft, providerKind } from "#providers/index.ts";
import type { Job } from "./job-desk.ts";

export const adjustBody: Job<"adjust"> = (body, ask) => {
  const { provider, upstreamModel, stream, method, url } = ask;
  const lane = providerKind(provider.kind)?.lanes[ask.lane];
  if (lane === undefined) throw new Error("a lane that is not there");
  const warnings: string[] = [];
  const headers = { ...ask.headers };
  const draft: OutboundDraft = { provider, upstreamModel, stream, method, url, headers, body };
  lane.adjust?.(draft, (what) => void warnings.push(what));
  return { made: draft.body, answer: { method: draft.method, url: draft.url, headers, warnings } };
};
