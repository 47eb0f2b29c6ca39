import { asKeyPath, assetContentPath, backupPath, meets, tailPath, taskContentPath } from "@sluice/contract/words";
import type { Hono } from "hono";
import { type ApiKey, Failure } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { heldBy, seenPerson, whoCalls } from "../handlers/callers.ts";
import {
  type AdminEnv,
  mountStreaming,
  oneWorkspace,
  type StreamingCall,
  type StreamingRoute,
  workspaceOf,
} from "../handlers/calls.ts";
import { backupCall } from "./backup-call.ts";
import { assetContent, taskContent } from "./content-calls.ts";

/**
 * The calls that are not JSON in and JSON out. Mount them before `mountHandlers`, which would take some of these paths for an id. HEAD
 * arrives here as GET.
 */
export function mountStreamingRoutes(app: Hono<AdminEnv>, dependencies: ConsoleDependencies): void {
  const mount = (route: StreamingRoute, act: (call: StreamingCall) => Promise<Response>) =>
    mountStreaming(app, route, dependencies, act);
  const bytes = { methods: ["GET"], needs: "viewer" } as const;
  const anyMethod = ["GET", "POST", "PUT", "PATCH", "DELETE"];
  mount({ methods: anyMethod, path: `${pattern(asKeyPath, "key")}/*`, needs: "member" }, (call) =>
    callAsKey(call, dependencies),
  );
  mount({ ...bytes, path: pattern(taskContentPath, "task") }, (call) => taskContent(call, dependencies));
  mount({ ...bytes, path: pattern(assetContentPath, "asset") }, (call) => assetContent(call, dependencies));
  mount({ ...bytes, path: pattern(tailPath, "") }, (call) => tailRequests(call, dependencies));
  const backup = { methods: ["POST"], path: backupPath, needs: "administrator", fresh: true } as const;
  mount(backup, backupCall(dependencies));
}

/** The contract's path with parameter names in place of ids. The names need no encoding. */
function pattern(pathOf: (workspace: string, id: string) => string, id: string): string {
  const [workspaceMark, idMark] = ["WORKSPACE", "ID"];
  return pathOf(workspaceMark, idMark).replace(workspaceMark, ":workspace").replace(idMark, `:${id}`);
}

/** Streams requests as they end, as server-sent events: those of a workspace, or all for an administrator. */
async function tailRequests(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const { request, params, actor, held, workspace } = call;
  const seen = seenPerson({ actor, held });
  // The framework handles HEAD as GET, and nobody would read the stream.
  if (request.method === "HEAD") throw new Failure("method_not_allowed", "HEAD is not possible here; GET is.");
  // The credentials, without the request around them: the view checks them again while it is open.
  const papers = new Request(request.url, { headers: new Headers(request.headers) });
  const body = dependencies.tail.open({
    workspaceId: workspace?.id ?? null,
    userId: actor.userId,
    seenPerson: seen,
    signal: request.signal,
    async stillAllowed() {
      const { actor: now } = await whoCalls(papers, dependencies);
      const heldNow = heldBy(now, workspaceOf(params, now, dependencies));
      // If their rights change, the view ends and the client opens it again.
      return meets(heldNow, "viewer") && seenPerson({ actor: now, held: heldNow }) === seen;
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // A proxy that buffers answers would delay the events.
      "x-accel-buffering": "no",
    },
  });
}

/** A call of the data plane with a key: a member with one of their own, an admin with any key of the workspace. */
async function callAsKey(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const workspace = oneWorkspace(call);
  const { request, actor, ip, patient } = call;
  const target = targetBehind.exec(request.url)?.[1];
  if (target === undefined) throw new Failure("not_found", "A path of the data plane must follow: /v1/…");
  const key = await dependencies.controlStore.keyById(call.params["key"] ?? "");
  if (key === null || key.workspaceId !== workspace.id) {
    throw new Failure("not_found", "There is no such key in this workspace.", { param: "key" });
  }
  await refuseForeign(key, call, dependencies);
  const principal = dependencies.authenticator.principalOf(key);
  const tags = { via: "console", user: actor.userId };
  const answer = await dependencies.answerAs({ principal, request, target, ip, tags, patient });
  if (key.allowedIps !== null) answer.headers.append("x-sluice-warnings", addressesNotAsked);
  return answer;
}

/** The undecoded path, because a model's name may contain slashes or dots. */
const targetBehind = /^[a-z]+:\/\/[^/]+\/api\/workspaces\/[^/]+\/keys\/[^/]+\/call(\/v1(?:beta)?\/.*)$/;

/** Source addresses restrict the use of a key's secret, and no secret is used here. */
const addressesNotAsked = "allowed_ips of the key was not asked: this call came through the console";

async function refuseForeign(
  key: ApiKey,
  { actor, held }: StreamingCall,
  { controlStore }: ConsoleDependencies,
): Promise<void> {
  if (meets(held, "admin")) return;
  const own = await controlStore.key(key.workspaceId, key.id);
  if (own?.created_by?.id === actor.userId) return;
  throw new Failure(
    "forbidden",
    "Somebody else made this key. An admin of the workspace may use it; you may use your own.",
  );
}
