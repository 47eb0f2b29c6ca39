import {
  asKeyPath,
  assetContentPath,
  backupPath,
  batchResultPath,
  chargebackCsvPath,
  fileContentPath,
  focusPath,
  guardrailChecksCsvPath,
  mayCallWith,
  meets,
  requestsCsvPath,
  tailPath,
  taskContentPath,
  usageCsvPath,
} from "@sluice/contract/words";
import type { Hono } from "hono";
import { Failure, orNotFound } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { checkTaskVisible, readActor, roleHeldBy, visiblePerson } from "../handlers/callers.ts";
import {
  type AdminEnv,
  mountStreaming,
  oneWorkspace,
  type StreamingCall,
  type StreamingRoute,
  workspaceOf,
} from "../handlers/calls.ts";
import { matchesEtag } from "../pages.ts";
import { backupCall } from "./backup-call.ts";
import { batchResult } from "./batch-result.ts";
import { fileDownload } from "./file-download.ts";
import { focusExport } from "./focus-csv.ts";
import { guardrailChecksCsv } from "./guardrail-checks-csv.ts";
import { requestsCsv } from "./requests-csv.ts";
import { chargebackCsv, usageCsv } from "./usage-csv.ts";

/**
 * Calls with a body or answer other than JSON. Mount them before `mountHandlers`, because its paths with ids would match some of these.
 * HEAD arrives as GET.
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
  mount({ ...bytes, path: pattern(fileContentPath, "file") }, fileDownload(dependencies));
  const resultPath = (workspace: string, batch: string) => batchResultPath(workspace, batch, "output");
  mount({ ...bytes, path: pattern(resultPath, "batch").replace(/output$/, ":part") }, batchResult(dependencies));
  mount({ ...bytes, path: pattern(tailPath, "") }, (call) => tailRequests(call, dependencies));
  mount({ ...bytes, path: pattern(requestsCsvPath, "") }, (call) => requestsCsv(call, dependencies));
  mount({ ...bytes, path: pattern(guardrailChecksCsvPath, "") }, (call) => guardrailChecksCsv(call, dependencies));
  mount({ ...bytes, path: pattern(usageCsvPath, "") }, (call) => usageCsv(call, dependencies));
  mount({ ...bytes, path: pattern(chargebackCsvPath, "") }, (call) => chargebackCsv(call, dependencies));
  mount({ methods: ["GET"], path: focusPath, needs: "admin" }, (call) => focusExport(call, dependencies));
  const backup = { methods: ["POST"], path: backupPath, needs: "administrator", fresh: true } as const;
  mount(backup, backupCall(dependencies));
}

/** The contract's path with parameter names in place of ids. The names need no encoding. */
function pattern(pathOf: (workspace: string, id: string) => string, id: string): string {
  const [workspaceMark, idMark] = ["WORKSPACE", "ID"];
  return pathOf(workspaceMark, idMark).replace(workspaceMark, ":workspace").replace(idMark, `:${id}`);
}

/** Streams requests as they end, as server-sent events: of a workspace, or all for an administrator. */
async function tailRequests(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const { request, params, actor, held, workspace } = call;
  const seen = visiblePerson({ actor, held });
  // Hono handles HEAD as GET; the stream would never be read.
  if (request.method === "HEAD") throw new Failure("method_not_allowed", "Method HEAD not allowed. Use GET.");
  // The view checks the credentials again while it is open.
  const credentials = new Request(request.url, { headers: new Headers(request.headers) });
  const body = dependencies.tail.open({
    workspaceId: workspace?.id ?? null,
    userId: actor.userId,
    visiblePerson: seen,
    signal: request.signal,
    async stillAllowed() {
      const now = await readActor(credentials, dependencies);
      const heldNow = roleHeldBy(now, workspaceOf(params, now, dependencies));
      // If their rights change, the view ends and the client opens it again.
      return meets(heldNow, "viewer") && visiblePerson({ actor: now, held: heldNow }) === seen;
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      // Disables buffering in proxies.
      "x-accel-buffering": "no",
    },
  });
}

/** Calls the data plane with a key, see `mayCallWith`. The owner of the key pays; the ledger also records the signed-in user. */
async function callAsKey(call: StreamingCall, dependencies: ConsoleDependencies): Promise<Response> {
  const workspace = oneWorkspace(call);
  const { request, actor, ip } = call;
  const target = targetBehind.exec(request.url)?.[1];
  if (target === undefined)
    throw new Failure("not_found", "The path must continue with a path of the data plane: /v1/…");
  const stored = await dependencies.controlStore.keyById(call.params["key"] ?? "");
  const key = orNotFound(stored?.workspaceId === workspace.id ? stored : null, "key in this workspace", "key");
  await checkCallable(key.id, call, dependencies);
  const principal = { ...dependencies.authenticator.principalOf(key), actor: actor.userId };
  const answer = await dependencies.answerAs({ principal, request, target, ip });
  if (key.allowedIps !== null) answer.headers.append("x-sluice-warnings", addressWarning);
  return answer;
}

/** The undecoded path, because a model's name may contain slashes or dots. */
const targetBehind = /^[a-z]+:\/\/[^/]+\/api\/workspaces\/[^/]+\/keys\/[^/]+\/call(\/v1(?:beta)?\/.*)$/;

/** Source addresses restrict the use of a key's secret, and no secret is used here. */
const addressWarning = "allowed_ips of the key was not checked because this call came through the console";

async function checkCallable(
  id: string,
  { actor, held, workspace }: StreamingCall,
  { controlStore }: ConsoleDependencies,
): Promise<void> {
  const key = orNotFound(await controlStore.key(workspace?.id ?? null, id), "key in this workspace", "key");
  if (mayCallWith(key, actor.userId, { isAdmin: meets(held, "admin") })) return;
  if (key.person !== undefined) {
    throw new Failure("forbidden", "This key belongs to an agent sign-in and can only be used by that agent.");
  }
  const why = key.owner === null ? "was created by another user" : "is another user's personal key";
  throw new Failure("forbidden", `This key ${why}. Use one of your own keys.`);
}

/** The video of a task, from our copy or from the vendor while its link is valid. */
async function taskContent(call: StreamingCall, { videos }: ConsoleDependencies): Promise<Response> {
  const { request, params } = call;
  const workspace = oneWorkspace(call);
  const id = params["task"] ?? "";
  await checkTaskVisible(call, videos, workspace, id);
  const content = await videos.content(
    workspace.id,
    id,
    { range: request.headers.get("range"), still: null },
    request.signal,
  );
  return contentAnswer(request, id, content);
}

/** The content of an asset in our own store. */
async function assetContent(call: StreamingCall, { assets }: ConsoleDependencies): Promise<Response> {
  const { request, params } = call;
  const workspace = oneWorkspace(call);
  const id = params["asset"] ?? "";
  const content = await assets.content(workspace.id, id, request.headers.get("range"));
  return contentAnswer(request, id, content);
}

interface Content {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReadableStream<Uint8Array> | null;
}

/**
 * Untrusted content on the console's own origin: only media types of the list are shown inline, without scripts and in a sandbox. Browsers
 * must revalidate each time, so that access ends with the right to it. Content of an id never changes, so `if-range` is not checked.
 */
function contentAnswer(request: Request, id: string, { status, headers, body }: Content): Response {
  const type = headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const extension = extensions.get(type);
  const out = new Headers(headers);
  if (status === 200 || status === 206) out.set("content-type", extension === undefined ? unknownType : type);
  const place = extension === undefined ? "attachment" : "inline";
  out.set("content-disposition", `${place}; filename="${id.replaceAll(/[^\w-]/g, "_")}.${extension ?? "bin"}"`);
  out.set("content-security-policy", "sandbox; default-src 'none'");
  out.set("x-content-type-options", "nosniff");
  out.set("cache-control", "private, no-cache");
  const etag = headers["etag"];
  if (etag !== undefined && status < 300 && matchesEtag(request, etag)) {
    cancelBody(body);
    out.delete("content-length");
    out.delete("content-range");
    return new Response(null, { status: 304, headers: out });
  }
  if (request.method !== "HEAD") return new Response(body, { status, headers: out });
  cancelBody(body);
  return new Response(null, { status, headers: out });
}

const unknownType = "application/octet-stream";
const extensions: ReadonlyMap<string, string> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/gif", "gif"],
  ["image/webp", "webp"],
  ["image/bmp", "bmp"],
  ["image/tiff", "tiff"],
  ["image/heic", "heic"],
  ["video/mp4", "mp4"],
  ["video/webm", "webm"],
  ["video/quicktime", "mov"],
  ["audio/wav", "wav"],
  ["audio/flac", "flac"],
  ["audio/ogg", "ogg"],
  ["audio/mpeg", "mp3"],
  ["audio/mp4", "m4a"],
]);

/** Cancels a body that is not sent. */
function cancelBody(body: ReadableStream<Uint8Array> | null): void {
  body?.cancel().catch(() => undefined);
}
