import { asKeyPath, assetContentPath, backupPath, meets, tailPath, taskContentPath } from "@sluice/contract/words";
import type { Hono } from "hono";
import { type ApiKey, Failure, type Principal } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { Authenticator } from "#identity/index.ts";
import { oneWorkspace } from "../handlers/handler.ts";
import type { AdminEnv, MountOptions } from "../handlers/mount-handlers.ts";
import { seenPerson } from "../handlers/seen-people.ts";
import { heldBy, whoCalls } from "../handlers/who-calls.ts";
import type { RequestTail } from "../tail/request-tail.ts";
import { type BackupDependencies, backupCall } from "./backup-call.ts";
import { assetContent, type ContentDependencies, taskContent } from "./content-calls.ts";
import { mountStreaming, type StreamingCall, workspaceOf } from "./streaming-call.ts";

export interface StreamingDependencies
  extends AsKeyDependencies,
    ContentDependencies,
    TailDependencies,
    BackupDependencies {}

/**
 * The calls that are not JSON in and JSON out. Mount them before `mountHandlers`, which would take some of these paths for an id. HEAD
 * arrives here as GET.
 */
export function mountStreamingRoutes(
  app: Hono<AdminEnv>,
  dependencies: StreamingDependencies,
  options: MountOptions,
): void {
  const asKey = {
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    path: `${pattern(asKeyPath, "key")}/*`,
    needs: "member",
  } as const;
  mountStreaming(app, asKey, options, (call) => callAsKey(call, dependencies));
  const taskBytes = { methods: ["GET"], path: pattern(taskContentPath, "task"), needs: "viewer" } as const;
  mountStreaming(app, taskBytes, options, (call) => taskContent(call, dependencies));
  const assetBytes = { methods: ["GET"], path: pattern(assetContentPath, "asset"), needs: "viewer" } as const;
  mountStreaming(app, assetBytes, options, (call) => assetContent(call, dependencies));
  const tail = { methods: ["GET"], path: pattern(tailPath, ""), needs: "viewer" } as const;
  mountStreaming(app, tail, options, (call) => tailRequests(call, dependencies, options));
  const backup = { methods: ["POST"], path: backupPath, needs: "administrator", fresh: true } as const;
  mountStreaming(app, backup, options, backupCall(dependencies));
}

/** The contract's path with parameter names in place of ids. The names need no encoding. */
function pattern(pathOf: (workspace: string, id: string) => string, id: string): string {
  const [workspaceMark, idMark] = ["WORKSPACE", "ID"];
  return pathOf(workspaceMark, idMark).replace(workspaceMark, ":workspace").replace(idMark, `:${id}`);
}

interface TailDependencies {
  readonly tail: RequestTail;
}

/** Streams requests as they end, as server-sent events: those of a workspace, or all for an administrator. */
async function tailRequests(
  call: StreamingCall,
  dependencies: TailDependencies,
  options: MountOptions,
): Promise<Response> {
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
      const { actor: now } = await whoCalls(papers, options);
      const heldNow = heldBy(now, workspaceOf(params, now, options));
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

interface AsKeyDependencies {
  readonly controlStore: ControlStore;
  readonly authenticator: Pick<Authenticator, "principalOf">;
  /** Calls the data plane for an authenticated caller. `target`: path and query, from `/v1` on. */
  readonly answerAs: (call: {
    readonly principal: Principal;
    readonly request: Request;
    readonly target: string;
    readonly ip: string;
    readonly tags: Readonly<Record<string, string>>;
    readonly patient: () => void;
  }) => Promise<Response>;
}

/** A call of the data plane with a key: a member with one of their own, an admin with any key of the workspace. */
async function callAsKey(call: StreamingCall, dependencies: AsKeyDependencies): Promise<Response> {
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
  { controlStore }: AsKeyDependencies,
): Promise<void> {
  if (meets(held, "admin")) return;
  const own = await controlStore.key(key.workspaceId, key.id);
  if (own?.created_by?.id === actor.userId) return;
  throw new Failure(
    "forbidden",
    "Somebody else made this key. An admin of the workspace may use it; you may use your own.",
  );
}
