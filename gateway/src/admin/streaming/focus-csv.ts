import { createHash } from "node:crypto";
import { focusQuery } from "@sluice/contract/console/usage";
import { meets } from "@sluice/contract/words";
import { Failure, type Workspace } from "#core/index.ts";
import { type FocusRange, focusCsv, focusRange } from "#ledger/index.ts";
import type { FocusStore } from "#ports/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { needText, roleHeldBy, workspaceNamed } from "../handlers/callers.ts";
import { queryOf, readAs, type StreamingCall } from "../handlers/calls.ts";
import { focusCatalogue } from "../models/focus-catalogue.ts";
import { matchesEtag } from "../pages.ts";
import { csvResponse } from "./csv.ts";

/** Streams the FOCUS rows of closed days: of one workspace for its admins, of all for an administrator. */
export async function focusExport(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const { focus, clock } = dependencies;
  const query = readAs(focusQuery, queryOf(call.request));
  const workspaceId = allowedWorkspace(query.workspace, call, dependencies)?.id ?? null;
  const range = await focusRange(query, focus, clock.now());
  const etag = await etagOf(focus, range, workspaceId);
  const headers = { "cache-control": "private, no-cache", ...(etag === null ? {} : { etag }) };
  if (etag !== null && matchesEtag(call.request, etag)) return new Response(null, { status: 304, headers });
  const lines = focusCsv({
    store: focus,
    range,
    workspaceId,
    catalogue: () => focusCatalogue(dependencies),
    signal: call.signal,
  });
  const [from, last] = [range.from, range.to - 1].map((at) => new Date(at).toISOString().slice(0, 10));
  const answer = csvResponse(`focus-${from}-to-${last}`, lines);
  for (const [name, value] of Object.entries(headers)) answer.headers.set(name, value);
  return call.request.method === "HEAD" ? new Response(null, { headers: answer.headers }) : answer;
}

/** null: the whole installation. */
function allowedWorkspace(
  name: string | undefined,
  { actor }: StreamingCall,
  { configSnapshot }: ConsoleDependencies,
): Workspace | null {
  const workspace = name === undefined ? null : workspaceNamed(name, actor, configSnapshot());
  const needed = workspace === null ? "administrator" : "admin";
  if (meets(roleHeldBy(actor, workspace), needed)) return workspace;
  const hint = name === undefined ? " Admins of a workspace name it with `workspace`." : "";
  throw new Failure("forbidden", `This needs ${needText(needed)}.${hint}`);
}

/** Closed days never change. null: the export would close some first. */
async function etagOf(focus: FocusStore, { from, to }: FocusRange, workspaceId: string | null): Promise<string | null> {
  const first = await focus.firstDay();
  const start = first === null ? to : Math.max(from, first);
  const days = await focus.closed(start, to);
  if (days.length < (to - start) / dayMs) return null;
  const digest = createHash("sha256").update(JSON.stringify([from, to, workspaceId, days.map((day) => day.digest)]));
  return `"${digest.digest("base64url")}"`;
}

const dayMs = 86_400_000;
