import type { HeaderReader } from "#core/index.ts";
import { anthropicMessages, type Dialect, gemini, openaiChat } from "#protocols/index.ts";
import type { Endpoint } from "./dependencies.ts";
import {
  bootstrapPath,
  hello,
  helloPath,
  managedSettings,
  protocol,
  protocolPath,
  settingsPath,
  takeTelemetry,
  telemetryPaths,
  userBootstrap,
} from "./endpoints/agents/agent-facts.ts";
import {
  authorizeDevice,
  deviceAuthorizationPath,
  getMetadata,
  issueTokens,
  metadataPath,
  revocationPath,
  revokeToken,
  tokenPath,
} from "./endpoints/agents/sign-in.ts";
import { getSpend, spendPath } from "./endpoints/agents/spend.ts";
import {
  assetGroupsPath,
  createAssetGroup,
  deleteAssetGroup,
  getAssetGroup,
  listAssetGroups,
} from "./endpoints/asset-groups.ts";
import { assetsPath, blobsPath, createAsset, deleteAsset, getAsset, getBlob, listAssets } from "./endpoints/assets.ts";
import { healthz, metrics, readyz, root } from "./endpoints/health.ts";
import {
  batchEmbedContents,
  chat,
  countTokens,
  embedContent,
  geminiCountTokens,
  generate,
  imageEdits,
  images,
  messages,
  nativeRoutes,
} from "./endpoints/model-calls.ts";
import { getModel, listModels } from "./endpoints/models.ts";
import { passThrough, passThroughSocket, providersPath } from "./endpoints/pass-through.ts";
import { compact, inputTokens, keptResponse, responses, responsesPrefix } from "./endpoints/responses.ts";
import { responsesSocket } from "./endpoints/responses-socket.ts";
import { getUsage } from "./endpoints/usage.ts";
import {
  callbacksPath,
  cancelVideoTask,
  createVideoTask,
  getVideoTask,
  listVideoTasks,
  videoCallback,
  videoContent,
  videoTasksPath,
} from "./endpoints/video-tasks.ts";
import {
  createVideo,
  deleteVideo,
  getVideo,
  listVideos,
  notOffered,
  remixVideo,
  videosContent,
  videosPath,
} from "./endpoints/videos.ts";
import { geminiPrefix, geminiRoot, isGoogles, modelPrefix, verbOf } from "./google-path.ts";

interface Route {
  /** The name in metrics. */
  readonly name: string;
  readonly methods: Readonly<Record<string, Endpoint>>;
  /** Who answers a GET that asks for a WebSocket. */
  readonly socket?: Endpoint;
  /** How its callers are told what went wrong; OpenAI's way where nothing else is said. */
  readonly dialect?: Dialect;
}

/** Every route there is, for whoever compares them with the API description. */
const made: Route[] = [];
export const routes: readonly Route[] = made;

function route(described: Route): Route {
  made.push(described);
  return described;
}

const exact: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["/v1/chat/completions", route({ name: "chat", methods: { POST: chat } })],
  ["/v1/messages", route({ name: "messages", methods: { POST: messages }, dialect: anthropicMessages })],
  [
    "/v1/messages/count_tokens",
    route({ name: "count-tokens", methods: { POST: countTokens }, dialect: anthropicMessages }),
  ],
  ["/v1/responses", route({ name: "responses", methods: { POST: responses }, socket: responsesSocket })],
  ["/v1/responses/input_tokens", route({ name: "input-tokens", methods: { POST: inputTokens } })],
  ["/v1/responses/compact", route({ name: "responses-compact", methods: { POST: compact } })],
  ...nativeRoutes.map(([path, name, post]): [string, Route] => [path, route({ name, methods: { POST: post } })]),
  ["/v1/images/generations", route({ name: "images", methods: { POST: images } })],
  ["/v1/images/edits", route({ name: "image-edits", methods: { POST: imageEdits } })],
  [videoTasksPath, route({ name: "video-tasks", methods: { POST: createVideoTask, GET: listVideoTasks } })],
  [videosPath, route({ name: "videos", methods: { POST: createVideo, GET: listVideos } })],
  ...["edits", "extensions", "characters"].map((part): [string, Route] => [
    `${videosPath}/${part}`,
    route({ name: "videos", methods: { POST: notOffered } }),
  ]),
  [assetGroupsPath, route({ name: "asset-groups", methods: { POST: createAssetGroup, GET: listAssetGroups } })],
  [assetsPath, route({ name: "assets", methods: { POST: createAsset, GET: listAssets } })],
  ["/v1/models", route({ name: "models", methods: { GET: listModels } })],
  ["/v1beta/models", route({ name: "models", methods: { GET: listModels }, dialect: gemini })],
  ["/v1/usage", route({ name: "usage", methods: { GET: getUsage } })],
  [metadataPath, route({ name: "agent-metadata", methods: { GET: getMetadata } })],
  [
    deviceAuthorizationPath,
    route({ name: "agent-device", methods: { POST: authorizeDevice }, dialect: anthropicMessages }),
  ],
  [tokenPath, route({ name: "agent-token", methods: { POST: issueTokens }, dialect: anthropicMessages })],
  [settingsPath, route({ name: "agent-settings", methods: { GET: managedSettings }, dialect: anthropicMessages })],
  [bootstrapPath, route({ name: "agent-bootstrap", methods: { GET: userBootstrap }, dialect: anthropicMessages })],
  [spendPath, route({ name: "agent-spend", methods: { GET: getSpend }, dialect: anthropicMessages })],
  [protocolPath, route({ name: "agent-protocol", methods: { GET: protocol } })],
  [helloPath, route({ name: "agent-hello", methods: { HEAD: hello } })],
  ...telemetryPaths.map((path): [string, Route] => [
    path,
    route({ name: "agent-telemetry", methods: { POST: takeTelemetry }, dialect: anthropicMessages }),
  ]),
  [revocationPath, route({ name: "agent-revoke", methods: { POST: revokeToken }, dialect: anthropicMessages })],
  ["/healthz", route({ name: "healthz", methods: { GET: healthz, HEAD: healthz } })],
  ["/readyz", route({ name: "readyz", methods: { GET: readyz, HEAD: readyz } })],
  ["/metrics", route({ name: "metrics", methods: { GET: metrics } })],
]);

/** Beside `/v1`, what agents ask for at the address that callers use. */
const agentPaths: ReadonlySet<string> = new Set([
  ...[metadataPath, deviceAuthorizationPath, tokenPath, revocationPath],
  ...[settingsPath, bootstrapPath, spendPath, protocolPath, helloPath],
]);

/** Whether a path belongs to callers, not to those who run the gateway. */
export function isCallersPath(path: string): boolean {
  return dataPlane.test(path) || agentPaths.has(path);
}

/** Below `/v1/organizations/` stands what Anthropic's Admin API has there: it is for those who run the gateway. */
export const dataPlane = /^\/v1(?!\/organizations\/)(beta)?(\/|$)/;

/** What is asked for most: its target is known to be plain when it is found. */
export const exactPaths: readonly string[] = [...exact.keys()];

const model: Route = route({ name: "model", methods: { GET: getModel } });
const geminiModel: Route = route({ name: "model", methods: { GET: getModel }, dialect: gemini });
const generation: Route = route({ name: "generate", methods: { POST: generate }, dialect: gemini });
/** What Google's clients ask of a model. */
const verbs: ReadonlyMap<string, Route> = new Map([
  ["generateContent", generation],
  ["streamGenerateContent", generation],
  ["embedContent", route({ name: "embed-content", methods: { POST: embedContent }, dialect: gemini })],
  [
    "batchEmbedContents",
    route({ name: "batch-embed-contents", methods: { POST: batchEmbedContents }, dialect: gemini }),
  ],
  ["countTokens", route({ name: "gemini-count-tokens", methods: { POST: geminiCountTokens }, dialect: gemini })],
]);
const videoTask: Route = route({ name: "video-task", methods: { GET: getVideoTask, DELETE: cancelVideoTask } });
const content: Route = route({ name: "video-content", methods: { GET: videoContent, HEAD: videoContent } });
const video: Route = route({ name: "video", methods: { GET: getVideo, DELETE: deleteVideo } });
const videoParts: Readonly<Record<string, Route>> = {
  content: route({ name: "video-content", methods: { GET: videosContent, HEAD: videosContent } }),
  remix: route({ name: "video-remix", methods: { POST: remixVideo } }),
};
const character: Route = route({ name: "video", methods: { GET: notOffered } });
const callback: Route = route({ name: "video-callback", methods: { POST: videoCallback } });
const assetGroup: Route = route({ name: "asset-group", methods: { GET: getAssetGroup, DELETE: deleteAssetGroup } });
const asset: Route = route({ name: "asset", methods: { GET: getAsset, DELETE: deleteAsset } });
const blob: Route = route({ name: "blob", methods: { GET: getBlob, HEAD: getBlob } });
const kept: Route = route({ name: "kept-response", methods: { GET: keptResponse, DELETE: keptResponse } });
const keptPart: Readonly<Record<string, Route>> = {
  cancel: route({ name: "kept-response", methods: { POST: keptResponse } }),
  input_items: route({ name: "kept-response", methods: { GET: keptResponse } }),
};

const passed: Route = route({
  name: "pass-through",
  methods: {
    GET: passThrough,
    HEAD: passThrough,
    POST: passThrough,
    PUT: passThrough,
    PATCH: passThrough,
    DELETE: passThrough,
  },
  socket: passThroughSocket,
});

/** The route of a path; null when there is none. The one place where paths have a meaning. */
export function routeOf(path: string, method: string): Route | null {
  const route = exact.get(path);
  if (route !== undefined) return route;
  if (path === "/" && method === "HEAD") return warmUp;
  if (path.startsWith(modelPrefix)) return ofModel(path, modelPrefix, method, model);
  if (path.startsWith(geminiPrefix)) return ofModel(path, geminiPrefix, method, geminiModel);
  if (path.startsWith(geminiRoot)) return method === "GET" ? null : askedOf(path, geminiRoot);
  if (path.startsWith(responsesPrefix)) return oneOrPart(path.slice(responsesPrefix.length), kept, keptPart);
  for (const [prefix, below] of prefixes) if (path.startsWith(prefix)) return below(path.slice(prefix.length));
  return null;
}

/** Model names may hold slashes and colons, so the whole rest of the path is the name, but for what is asked of the model. */
function ofModel(path: string, prefix: string, method: string, one: Route): Route | null {
  if (path.length === prefix.length) return null;
  // Whoever reads looks the model up: a name may end like a verb.
  if (method === "GET") return one;
  return askedOf(path, prefix) ?? (unknownVerb.test(path) ? null : one);
}

/** A verb of Google's that is not served, as they are written: `predictLongRunning`. */
const unknownVerb = /:[a-z]+[A-Z][A-Za-z]*$/;

/** What Google's clients ask of the model behind the prefix. */
function askedOf(path: string, prefix: string): Route | null {
  return path.lastIndexOf(":") > prefix.length ? (verbs.get(verbOf(path)) ?? null) : null;
}

/** What stands below a path, by the rest of it: ids of ours, in as many parts as there are, and a provider's own paths. */
const prefixes: readonly (readonly [prefix: string, below: (rest: string) => Route | null])[] = [
  [callbacksPath, (rest) => (/^[^/]+\/[^/]+$/.test(rest) ? callback : null)],
  [`${videoTasksPath}/`, (rest) => oneOrPart(rest, videoTask, { content })],
  [`${videosPath}/characters/`, (rest) => oneOrPart(rest, character, {})],
  [`${videosPath}/`, (rest) => oneOrPart(rest, video, videoParts)],
  [`${assetGroupsPath}/`, (rest) => oneOrPart(rest, assetGroup, {})],
  [`${assetsPath}/`, (rest) => oneOrPart(rest, asset, {})],
  [providersPath, (rest) => (/^[^/]/.test(rest) ? passed : null)],
  [blobsPath, (rest) => oneOrPart(rest, blob, {})],
];

/** The warm-up of a connection, which some clients send to the base URL; everything else there is the console's. */
const warmUp: Route = route({ name: "root", methods: { HEAD: root } });

function oneOrPart(rest: string, one: Route, parts: Readonly<Record<string, Route>>): Route | null {
  const [id, part, ...more] = rest.split("/");
  if (id === undefined || id === "" || more.length > 0) return null;
  return part === undefined ? one : (parts[part] ?? null);
}

/** How a caller of this path is told of a failure. */
export function dialectOf(route: Route | null, path: string, headers: HeaderReader): Dialect {
  if (route?.dialect !== undefined) return route.dialect;
  if (path.startsWith("/v1/messages")) return anthropicMessages;
  if (path.startsWith(geminiRoot)) return gemini;
  // Paths that several vendors have, and those that the gateway does not.
  if (route !== null && !path.startsWith("/v1/models") && !path.startsWith(providersPath)) return openaiChat;
  if (headers.has("anthropic-version")) return anthropicMessages;
  return isGoogles(headers) ? gemini : openaiChat;
}
