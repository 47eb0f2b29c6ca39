import { meets } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { MountOptions } from "../handlers/mount-handlers.ts";
import { seenPerson } from "../handlers/seen-people.ts";
import { heldBy, whoCalls } from "../handlers/who-calls.ts";
import type { RequestTail } from "../tail/request-tail.ts";
import { type StreamingCall, workspaceOf } from "./streaming-call.ts";

export interface TailDependencies {
  readonly tail: RequestTail;
}

/** Requests as they end, as server-sent events: of a workspace, or of every one for an administrator. */
export async function tailRequests(
  call: StreamingCall,
  dependencies: TailDependencies,
  options: MountOptions,
): Promise<Response> {
  const { request, params, actor, held, workspace } = call;
  const seen = seenPerson({ actor, held });
  // The framework asks GET for HEAD, and nobody would read the answer.
  if (request.method === "HEAD") throw new Failure("method_not_allowed", "HEAD is not possible here; GET is.");
  // What it signed in with, without the request that holds it: it is asked again for as long as the view lasts.
  const papers = new Request(request.url, { headers: new Headers(request.headers) });
  const body = dependencies.tail.open({
    workspaceId: workspace?.id ?? null,
    userId: actor.userId,
    seenPerson: seen,
    signal: request.signal,
    async stillAllowed() {
      const { actor: now } = await whoCalls(papers, options);
      const heldNow = heldBy(now, workspaceOf(params, now, options));
      // Whoever sees less, or more, than at first opens it anew.
      return meets(heldNow, "viewer") && seenPerson({ actor: now, held: heldNow }) === seen;
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // A proxy that gathers answers would hold the events back.
      "x-accel-buffering": "no",
    },
  });
}
