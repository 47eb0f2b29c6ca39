import type { HeaderReader } from "#core/index.ts";
import { anthropicMessages, type Dialect, gemini, openaiChat } from "#protocols/index.ts";
import type { Endpoint } from "./dependencies.ts";
import * as agents from "./endpoints/agents/agents.ts";
import * as signIn from "./endpoints/agents/sign-in.ts";
import * as assets from "./endpoints/assets.ts";
import { healthz, metrics, readyz, root } from "./endpoints/health.ts";
import * as calls from "./endpoints/model-calls.ts";
import { getModel, listModels } from "./endpoints/models.ts";
import * as pass from "./endpoints/pass-through.ts";
import { responsesSocket, storedResponse } from "./endpoints/responses.ts";
import { getUsage } from "./endpoints/usage.ts";
import * as tasks from "./endpoints/video-tasks.ts";
import * as videos from "./endpoints/videos.ts";
import { actionOf, geminiPrefix, geminiRoot, isGoogles, modelPrefix } from "./google-path.ts";

interface Route {
  /** The name in metrics. */
  readonly name: string;
  readonly methods: Readonly<Record<string, Endpoint>>;
  /** Answers a GET with an upgrade to a WebSocket. */
  readonly socket?: Endpoint;
  /** The dialect of its errors; by default OpenAI's. */
  readonly dialect?: Dialect;
}

/** For Anthropic's clients and for agents. */
const claude = { dialect: anthropicMessages } as const;

/** Exact paths, and paths with an id in braces. `routeOf` matches Gemini's model actions and pass-through paths. */
const table: readonly (readonly [path: string, route: Route])[] = [
  ["/v1/chat/completions", { name: "chat", methods: { POST: calls.chat } }],
  ["/v1/messages", { name: "messages", methods: { POST: calls.messages }, ...claude }],
  ["/v1/messages/count_tokens", { name: "count-tokens", methods: { POST: calls.countTokens }, ...claude }],
  ["/v1/responses", { name: "responses", methods: { POST: calls.responses }, socket: responsesSocket }],
  ["/v1/responses/input_tokens", { name: "input-tokens", methods: { POST: calls.inputTokens } }],
  ["/v1/responses/compact", { name: "responses-compact", methods: { POST: calls.compact } }],
  ["/v1/responses/{id}", { name: "kept-response", methods: { GET: storedResponse, DELETE: storedResponse } }],
  ["/v1/responses/{id}/cancel", { name: "kept-response", methods: { POST: storedResponse } }],
  ["/v1/responses/{id}/input_items", { name: "kept-response", methods: { GET: storedResponse } }],
  ...calls.nativeRoutes.map(([path, name, post]) => [path, { name, methods: { POST: post } }] as const),
  ["/v1/images/generations", { name: "images", methods: { POST: calls.images } }],
  ["/v1/images/edits", { name: "image-edits", methods: { POST: calls.imageEdits } }],
  ["/v1/video/tasks", { name: "video-tasks", methods: { POST: tasks.createVideoTask, GET: tasks.listVideoTasks } }],
  ["/v1/video/tasks/{id}", { name: "video-task", methods: { GET: tasks.getVideoTask, DELETE: tasks.cancelVideoTask } }],
  [
    "/v1/video/tasks/{id}/content",
    { name: "video-content", methods: { GET: tasks.videoContent, HEAD: tasks.videoContent } },
  ],
  ["/v1/video/callbacks/{id}/{token}", { name: "video-callback", methods: { POST: tasks.videoCallback } }],
  ["/v1/videos", { name: "videos", methods: { POST: videos.createVideo, GET: videos.listVideos } }],
  ["/v1/videos/edits", { name: "videos", methods: { POST: videos.notOffered } }],
  ["/v1/videos/extensions", { name: "videos", methods: { POST: videos.notOffered } }],
  ["/v1/videos/characters", { name: "videos", methods: { POST: videos.notOffered } }],
  ["/v1/videos/characters/{id}", { name: "video", methods: { GET: videos.notOffered } }],
  ["/v1/videos/{id}", { name: "video", methods: { GET: videos.getVideo, DELETE: videos.deleteVideo } }],
  [
    "/v1/videos/{id}/content",
    { name: "video-content", methods: { GET: videos.videosContent, HEAD: videos.videosContent } },
  ],
  ["/v1/videos/{id}/remix", { name: "video-remix", methods: { POST: videos.remixVideo } }],
  [
    "/v1/asset-groups",
    { name: "asset-groups", methods: { POST: assets.createAssetGroup, GET: assets.listAssetGroups } },
  ],
  [
    "/v1/asset-groups/{id}",
    { name: "asset-group", methods: { GET: assets.getAssetGroup, DELETE: assets.deleteAssetGroup } },
  ],
  ["/v1/assets", { name: "assets", methods: { POST: assets.createAsset, GET: assets.listAssets } }],
  ["/v1/assets/{id}", { name: "asset", methods: { GET: assets.getAsset, DELETE: assets.deleteAsset } }],
  ["/v1/blobs/{id}", { name: "blob", methods: { GET: assets.getBlob, HEAD: assets.getBlob } }],
  ["/v1/models", { name: "models", methods: { GET: listModels } }],
  ["/v1beta/models", { name: "models", methods: { GET: listModels }, dialect: gemini }],
  ["/v1/usage", { name: "usage", methods: { GET: getUsage } }],
  ["/.well-known/oauth-authorization-server", { name: "agent-metadata", methods: { GET: signIn.getMetadata } }],
  ["/oauth/device_authorization", { name: "agent-device", methods: { POST: signIn.authorizeDevice }, ...claude }],
  ["/oauth/token", { name: "agent-token", methods: { POST: signIn.issueTokens }, ...claude }],
  ["/oauth/revoke", { name: "agent-revoke", methods: { POST: signIn.revokeToken }, ...claude }],
  ["/managed/settings", { name: "agent-settings", methods: { GET: agents.managedSettings }, ...claude }],
  ["/user/bootstrap", { name: "agent-bootstrap", methods: { GET: agents.userBootstrap }, ...claude }],
  ["/api/oauth/usage", { name: "agent-spend", methods: { GET: agents.getSpend }, ...claude }],
  ["/protocol", { name: "agent-protocol", methods: { GET: agents.protocol } }],
  ["/api/hello", { name: "agent-hello", methods: { HEAD: agents.hello } }],
  ...["/v1/metrics", "/v1/logs", "/v1/traces"].map(
    (path) => [path, { name: "agent-telemetry", methods: { POST: agents.takeTelemetry }, ...claude }] as const,
  ),
  ["/healthz", { name: "healthz", methods: { GET: healthz, HEAD: healthz } }],
  ["/readyz", { name: "readyz", methods: { GET: readyz, HEAD: readyz } }],
  ["/metrics", { name: "metrics", methods: { GET: metrics } }],
];

const exact: ReadonlyMap<string, Route> = new Map(table.filter(([path]) => !path.includes("{")));

/** Paths with an id, by the prefix before it, the longest first; then by the part after the id: "" for none, "{" for any. */
const withId = Map.groupBy(
  table.filter(([path]) => path.includes("{")),
  ([path]) => path.slice(0, path.indexOf("{")),
);
const below = [...withId]
  .sort(([one], [other]) => other.length - one.length)
  .map(([prefix, rows]) => [prefix, new Map(rows.map(([path, route]) => [partOf(path, prefix), route]))] as const);

function partOf(path: string, prefix: string): string {
  const part = path.slice(prefix.length).split("/")[1] ?? "";
  return part.startsWith("{") ? "{" : part;
}

/** Whether a path is for callers, not for administrators. Agents use some paths outside `/v1`. */
export function isCallersPath(path: string): boolean {
  return dataPlane.test(path) || exact.get(path)?.name.startsWith("agent-") === true;
}

/** `/v1/organizations/` is a part of Anthropic's Admin API, which is for administrators. */
export const dataPlane = /^\/v1(?!\/organizations\/)(beta)?(\/|$)/;

/** The most common paths, which need no check for ambiguity. */
export const exactPaths: readonly string[] = [...exact.keys()];

const model: Route = { name: "model", methods: { GET: getModel } };
const geminiModel: Route = { ...model, dialect: gemini };
const generation: Route = { name: "generate", methods: { POST: calls.generate }, dialect: gemini };
/** The actions of Google's clients on a model. */
const actions: ReadonlyMap<string, Route> = new Map([
  ["generateContent", generation],
  ["streamGenerateContent", generation],
  ["embedContent", { name: "embed-content", methods: { POST: calls.embedContent }, dialect: gemini }],
  [
    "batchEmbedContents",
    { name: "batch-embed-contents", methods: { POST: calls.batchEmbedContents }, dialect: gemini },
  ],
  ["countTokens", { name: "gemini-count-tokens", methods: { POST: calls.geminiCountTokens }, dialect: gemini }],
]);

const anyMethod = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const passThrough: Route = {
  name: "pass-through",
  methods: Object.fromEntries(anyMethod.map((method) => [method, pass.passThrough])),
  socket: pass.passThroughSocket,
};

/** Some clients warm up their connection with a HEAD of the base URL. Other requests for that path go to the console. */
const warmUp: Route = { name: "root", methods: { HEAD: root } };

/** Every route, for the comparison with the API description. */
export const routes: readonly Route[] = [
  ...new Set([...table.map(([, route]) => route), model, geminiModel, ...actions.values(), passThrough, warmUp]),
];

/** The route of a path; null if there is none. */
export function routeOf(path: string, method: string): Route | null {
  const route = exact.get(path);
  if (route !== undefined) return route;
  if (path === "/" && method === "HEAD") return warmUp;
  if (path.startsWith(modelPrefix)) return modelRoute(path, modelPrefix, method, model);
  if (path.startsWith(geminiPrefix)) return modelRoute(path, geminiPrefix, method, geminiModel);
  if (path.startsWith(geminiRoot)) return method === "GET" ? null : actionRoute(path, geminiRoot);
  if (path.startsWith(pass.providersPath))
    return /^[^/]/.test(path.slice(pass.providersPath.length)) ? passThrough : null;
  for (const [prefix, parts] of below) {
    if (!path.startsWith(prefix)) continue;
    const [id = "", part, ...more] = path.slice(prefix.length).split("/");
    if (id === "" || part === "" || more.length > 0) return null;
    return parts.get(part ?? "") ?? (part === undefined ? null : (parts.get("{") ?? null));
  }
  return null;
}

/** The rest of the path is the model's name, which may have slashes and colons, and perhaps an action. */
function modelRoute(path: string, prefix: string, method: string, one: Route): Route | null {
  if (path.length === prefix.length) return null;
  // A GET has no action: a name may end like one.
  if (method === "GET") return one;
  return actionRoute(path, prefix) ?? (unknownAction.test(path) ? null : one);
}

/** An action of Google's that is not served, such as `predictLongRunning`. */
const unknownAction = /:[a-z]+[A-Z][A-Za-z]*$/;

function actionRoute(path: string, prefix: string): Route | null {
  return path.lastIndexOf(":") > prefix.length ? (actions.get(actionOf(path)) ?? null) : null;
}

/** The dialect of errors for a request of this path. */
export function dialectOf(route: Route | null, path: string, headers: HeaderReader): Dialect {
  if (route?.dialect !== undefined) return route.dialect;
  if (path.startsWith("/v1/messages")) return anthropicMessages;
  if (path.startsWith(geminiRoot)) return gemini;
  // Only paths of several vendors and unknown paths remain.
  if (route !== null && !path.startsWith("/v1/models") && !path.startsWith(pass.providersPath)) return openaiChat;
  if (headers.has("anthropic-version")) return anthropicMessages;
  return isGoogles(headers) ? gemini : openaiChat;
}
