import type { HeaderReader } from "#core/index.ts";
import {
  anthropicMessages,
  bedrockMessages,
  type Dialect,
  gemini,
  geminiInteractions,
  openaiChat,
} from "#protocols/index.ts";
import { objectEndpoints } from "#relay/index.ts";
import type { Endpoint } from "./dependencies.ts";
import * as agents from "./endpoints/agents/agents.ts";
import * as signIn from "./endpoints/agents/sign-in.ts";
import * as assets from "./endpoints/assets.ts";
import * as anthropicBatches from "./endpoints/batches/anthropic-batches.ts";
import * as geminiBatches from "./endpoints/batches/gemini-batches.ts";
import * as openaiBatches from "./endpoints/batches/openai-batches.ts";
import * as batches from "./endpoints/batches/shared-batches.ts";
import * as cloud from "./endpoints/cloud-messages.ts";
import * as files from "./endpoints/files/files.ts";
import * as geminiFiles from "./endpoints/files/gemini-files.ts";
import { uploadGeminiFile } from "./endpoints/files/gemini-uploads.ts";
import { getFileContent } from "./endpoints/files/openai-files.ts";
import * as uploads from "./endpoints/files/uploads.ts";
import { healthz, metrics, readyz, root } from "./endpoints/health.ts";
import { modelCalls } from "./endpoints/model-calls.ts";
import { getModel, listModels } from "./endpoints/models.ts";
import * as pass from "./endpoints/pass-through.ts";
import { responsesSocket, storedInteraction, storedResponse } from "./endpoints/responses.ts";
import { getUsage } from "./endpoints/usage.ts";
import { vendorObjects } from "./endpoints/vendor-objects.ts";
import * as tasks from "./endpoints/video-tasks.ts";
import * as videos from "./endpoints/videos.ts";
import { actionOf, geminiPrefix, geminiRoot, isGoogles, modelPrefix, vendorDialect } from "./google-path.ts";

interface Route {
  /** With names in braces. */
  readonly path: string;
  /** The name in metrics. */
  readonly name: string;
  readonly methods: Readonly<Record<string, Endpoint>>;
  /** Answers a GET with an upgrade to a WebSocket. */
  readonly socket?: Endpoint;
  /** The dialect of its errors; by default OpenAI's. */
  readonly dialect?: Dialect;
}

type Row = readonly [path: string, name: string, methods: Route["methods"], more?: Pick<Route, "socket" | "dialect">];

/** For Anthropic's clients and for agents. */
const claude = { dialect: anthropicMessages } as const;
const interactions = { dialect: geminiInteractions } as const;
const google = { dialect: gemini } as const;

const posts = Object.fromEntries(modelCalls.map(({ id, post }) => [id, post])) as Record<
  (typeof modelCalls)[number]["id"],
  Endpoint
>;

/** OpenAI's path, which Google's SDK uses from version 3 on, too. */
const decisions: Endpoint = (exchange) =>
  posts[isGoogles(exchange.request.headers) ? "gemini-decisions" : "decisions"](exchange);

const bedrock = { dialect: bedrockMessages } as const;
const vertexModel = "/projects/{project}/locations/{location}/publishers/anthropic/models/{model}";

function modelRow({ id, path, post, dialect }: (typeof modelCalls)[number]): Row {
  if (id === "decisions") return [path, id, { POST: decisions }];
  if (id === "responses") return [path, id, { POST: post }, { socket: responsesSocket }];
  if (dialect === geminiInteractions) return [path, id, { POST: post }, interactions];
  return [path, id, { POST: post }, dialect === anthropicMessages ? claude : {}];
}

/** Google's SDK uses `/v1/` from version 3 on. */
const interactionRows: readonly Row[] = modelCalls
  .filter(({ id }) => id === "interactions")
  .flatMap(({ id, post }): readonly Row[] => [
    ["/v1/interactions", id, { POST: post }, interactions],
    ...["/v1beta", "/v1"].flatMap((version): readonly Row[] => [
      [
        `${version}/interactions/{id}`,
        "kept-interaction",
        { GET: storedInteraction, DELETE: storedInteraction },
        interactions,
      ],
      [`${version}/interactions/{id}/cancel`, "kept-interaction", { POST: storedInteraction }, interactions],
    ]),
  ]);

/** Exact paths, and paths with an id in braces. `routeOf` matches Gemini's model actions and pass-through paths. */
const rows: readonly Row[] = [
  ...modelCalls.filter(({ path }) => !path.includes("{")).map(modelRow),
  ...interactionRows,
  ["/v1/responses/{id}", "kept-response", { GET: storedResponse, DELETE: storedResponse }],
  ["/v1/responses/{id}/cancel", "kept-response", { POST: storedResponse }],
  ["/v1/responses/{id}/input_items", "kept-response", { GET: storedResponse }],
  ["/v1/batches", "batches", { POST: openaiBatches.createOpenAiBatch, GET: batches.listBatches }],
  ["/v1/batches/{id}", "batch", { GET: batches.getBatch, DELETE: batches.deleteBatch, POST: batches.cancelBatch }],
  ["/v1/batches/{id}/cancel", "batch", { POST: openaiBatches.cancelOpenAiBatch }],
  ["/v1beta/batches", "batches", { GET: geminiBatches.listGeminiBatches }, google],
  [
    "/v1beta/batches/{id}",
    "batch",
    {
      GET: geminiBatches.getGeminiBatch,
      DELETE: geminiBatches.deleteGeminiBatch,
      POST: geminiBatches.cancelGeminiBatch,
    },
    google,
  ],
  [
    "/v1/messages/batches",
    "message-batches",
    { POST: anthropicBatches.createAnthropicBatch, GET: anthropicBatches.listAnthropicBatches },
    claude,
  ],
  [
    "/v1/messages/batches/{id}",
    "message-batch",
    { GET: anthropicBatches.getAnthropicBatch, DELETE: anthropicBatches.deleteAnthropicBatch },
    claude,
  ],
  ["/v1/messages/batches/{id}/cancel", "message-batch", { POST: anthropicBatches.cancelAnthropicBatch }, claude],
  ["/v1/messages/batches/{id}/results", "message-batch", { GET: anthropicBatches.anthropicBatchResults }, claude],
  ["/model/{id}/invoke", "bedrock-invoke", { POST: cloud.invokeBedrock }, bedrock],
  ["/model/{id}/invoke-with-response-stream", "bedrock-invoke", { POST: cloud.invokeBedrock }, bedrock],
  ["/model/{id}/count-tokens", "bedrock-count", { POST: cloud.countBedrock }, bedrock],
  ...["", "/v1"].flatMap((base) =>
    ["rawPredict", "streamRawPredict"].map(
      (action): Row => [`${base}${vertexModel}:${action}`, "vertex-predict", { POST: cloud.predictVertex }, claude],
    ),
  ),
  ["/v1/batch-callbacks/{id}", "batch-callback", { POST: batches.batchCallback }],
  ["/v1/video/tasks", "video-tasks", { POST: tasks.createVideoTask, GET: tasks.listVideoTasks }],
  ["/v1/video/tasks/{id}", "video-task", { GET: tasks.getVideoTask, DELETE: tasks.cancelVideoTask }],
  ["/v1/video/tasks/{id}/content", "video-content", { GET: tasks.videoContent, HEAD: tasks.videoContent }],
  ["/v1/video/callbacks/{id}/{token}", "video-callback", { POST: tasks.videoCallback }],
  ["/v1/videos", "videos", { POST: videos.createVideo, GET: videos.listVideos }],
  ["/v1/videos/edits", "videos", { POST: videos.notOffered }],
  ["/v1/videos/extensions", "videos", { POST: videos.notOffered }],
  ["/v1/videos/characters", "videos", { POST: videos.notOffered }],
  ["/v1/videos/characters/{id}", "video", { GET: videos.notOffered }],
  ["/v1/videos/{id}", "video", { GET: videos.getVideo, DELETE: videos.deleteVideo }],
  ["/v1/videos/{id}/content", "video-content", { GET: videos.videosContent, HEAD: videos.videosContent }],
  ["/v1/videos/{id}/remix", "video-remix", { POST: videos.remixVideo }],
  ["/v1/asset-groups", "asset-groups", { POST: assets.createAssetGroup, GET: assets.listAssetGroups }],
  ["/v1/asset-groups/{id}", "asset-group", { GET: assets.getAssetGroup, DELETE: assets.deleteAssetGroup }],
  ["/v1/assets", "assets", { POST: assets.createAsset, GET: assets.listAssets }],
  ["/v1/assets/{id}", "asset", { GET: assets.getAsset, DELETE: assets.deleteAsset }],
  ["/v1/blobs/{id}", "blob", { GET: assets.getBlob, HEAD: assets.getBlob }],
  ["/v1/files", "files", { POST: files.createFile, GET: files.listFiles }],
  ["/v1/files/{id}", "file", { GET: files.getFile, DELETE: files.deleteFile }],
  ["/v1/files/{id}/content", "file-content", { GET: getFileContent }],
  ["/v1/uploads", "uploads", { POST: uploads.createUpload }],
  ["/v1/uploads/{id}/parts", "upload-parts", { POST: uploads.addUploadPart }],
  ["/v1/uploads/{id}/complete", "upload-end", { POST: uploads.completeUpload }],
  ["/v1/uploads/{id}/cancel", "upload-end", { POST: uploads.cancelUpload }],
  ["/upload/v1beta/files", "file-upload", { POST: uploadGeminiFile }, google],
  ["/upload/v1/files", "file-upload", { POST: uploadGeminiFile }, google],
  ["/v1beta/files", "files", { GET: geminiFiles.listFilesOfGemini }, google],
  ["/v1beta/files/{id}", "file", { GET: geminiFiles.getFileOfGemini, DELETE: geminiFiles.deleteFileOfGemini }, google],
  ...objectEndpoints.map((endpoint): Row => {
    const { path, name, methods } = endpoint;
    const call = vendorObjects(endpoint);
    return [path, name, Object.fromEntries(methods.map((method) => [method, call]))];
  }),
  ["/v1/models", "models", { GET: listModels }],
  ["/v1beta/models", "models", { GET: listModels }, { dialect: gemini }],
  ["/v1/usage", "usage", { GET: getUsage }],
  ["/.well-known/oauth-authorization-server", "agent-metadata", { GET: signIn.getMetadata }],
  ["/oauth/device_authorization", "agent-device", { POST: signIn.authorizeDevice }, claude],
  ["/oauth/token", "agent-token", { POST: signIn.issueTokens }, claude],
  ["/oauth/revoke", "agent-revoke", { POST: signIn.revokeToken }, claude],
  ["/managed/settings", "agent-settings", { GET: agents.managedSettings }, claude],
  ["/user/bootstrap", "agent-bootstrap", { GET: agents.userBootstrap }, claude],
  ["/api/oauth/usage", "agent-spend", { GET: agents.getSpend }, claude],
  ["/protocol", "agent-protocol", { GET: agents.protocol }],
  ["/api/hello", "agent-hello", { HEAD: agents.hello }],
  ["/v1/metrics", "agent-telemetry", { POST: agents.takeTelemetry }, claude],
  ["/v1/logs", "agent-telemetry", { POST: agents.takeTelemetry }, claude],
  ["/v1/traces", "agent-telemetry", { POST: agents.takeTelemetry }, claude],
  ["/healthz", "healthz", { GET: healthz, HEAD: healthz }],
  ["/readyz", "readyz", { GET: readyz, HEAD: readyz }],
  ["/metrics", "metrics", { GET: metrics }],
];

const table = rows.map(([path, name, methods, more]): readonly [path: string, Route] => [
  path,
  { path, name, methods, ...more },
]);
const exact: ReadonlyMap<string, Route> = new Map(table.filter(([path]) => !path.includes("{")));
/** Paths with an id. If two match, the first is meant. */
const patterns = table
  .filter(([path]) => path.includes("{"))
  .map(([path, route]) => ({ pattern: new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`), route }));

/** Whether a path is for callers, not for administrators. Agents use some paths outside `/v1`. */
export function isCallersPath(path: string): boolean {
  return dataPlane.test(path) || exact.get(path)?.name.startsWith("agent-") === true;
}

/** `/v1/organizations/` is a part of Anthropic's Admin API, which is for administrators. */
export const dataPlane = /^(?:(?:\/upload)?\/v1(?!\/organizations\/)(beta)?(\/|$)|\/model\/|\/projects\/)/;

/** Whether it is one of the most common paths, which need no check for ambiguity. */
export function isExactPath(path: string): boolean {
  return exact.has(path);
}

const model: Route = { path: `${modelPrefix}{model}`, name: "model", methods: { GET: getModel } };
const geminiModel: Route = { ...model, path: `${geminiPrefix}{model}`, dialect: gemini };
/** The actions of Google's clients on a model. */
const actions = new Map<string, Route>(
  modelCalls
    .filter(({ path }) => path.includes("{"))
    .map(({ id, path, post, dialect }) => [actionOf(path), { path, name: id, methods: { POST: post }, dialect }]),
);
for (const [action, post] of [
  ["batchGenerateContent", geminiBatches.createGeminiBatch],
  ["asyncBatchEmbedContent", geminiBatches.createGeminiEmbeddings],
] as const) {
  actions.set(action, {
    path: `${geminiPrefix}{model}:${action}`,
    name: "batches",
    methods: { POST: post },
    ...google,
  });
}
const generation = actions.get("generateContent");
if (generation !== undefined) actions.set("streamGenerateContent", generation);

const anyMethod = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const passThrough: Route = {
  path: `${pass.providersPath}{provider}/{path}`,
  name: "pass-through",
  methods: Object.fromEntries(anyMethod.map((method) => [method, pass.passThrough])),
  socket: pass.passThroughSocket,
};

/** Some clients warm up their connection with a HEAD of the base URL. Other requests for that path go to the console. */
const warmUp: Route = { path: "/", name: "root", methods: { HEAD: root } };

/** Every route, for the tests that compare it with the API description and with the cases of guardrails. */
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
  if (path.startsWith(geminiRoot)) {
    return patternRoute(path) ?? (method === "GET" ? null : actionRoute(path, geminiRoot));
  }
  if (path.startsWith(pass.providersPath))
    return /^[^/]/.test(path.slice(pass.providersPath.length)) ? passThrough : null;
  return patternRoute(path);
}

function patternRoute(path: string): Route | null {
  return patterns.find(({ pattern }) => pattern.test(path))?.route ?? null;
}

/** undefined: the route does not have this method, which is any token that a caller sent, even `constructor`. */
export function endpointFor({ methods }: Route, method: string): Endpoint | undefined {
  return Object.hasOwn(methods, method) ? methods[method] : undefined;
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

/** Paths of several vendors. */
const sharedPaths = ["/v1/models", "/v1/files", "/v1/skills", pass.providersPath];

/** The dialect of errors for a request of this path. */
export function dialectOf(route: Route | null, path: string, headers: HeaderReader): Dialect {
  if (route?.dialect !== undefined) return route.dialect;
  if (path === "/v1/decisions" && isGoogles(headers)) return geminiInteractions;
  if (path.startsWith("/v1/messages")) return anthropicMessages;
  if (path.startsWith("/v1/batches") && isGoogles(headers)) return gemini;
  if (path.startsWith(geminiRoot)) return gemini;
  const isShared = sharedPaths.some((prefix) => path.startsWith(prefix));
  return route === null || isShared ? vendorDialect(headers) : openaiChat;
}
