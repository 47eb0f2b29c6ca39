import { videoTaskFields } from "@sluice/contract/words";
import { sizeOf, wholeOf } from "#bodies/index.ts";
import {
  abortSignalOf,
  anonymousOwner,
  asFailure,
  bounds,
  checkField,
  Failure,
  type HeaderReader,
  type HeldMemory,
  type Principal,
  statesShownAs,
  type Task,
  type TaskState,
  taskIdOf,
} from "#core/index.ts";
import { callableModels, noModel, shadowDenials } from "#identity/index.ts";
import type { RenamedMembers } from "#protocols/index.ts";
import { type ContentOptions, type CreateCall, type SentBody, taskAnswer } from "#tasks/index.ts";
import { withKey } from "../authenticated.ts";
import { callbackBody, mayBeLarge, readJsonPieces, videoBody, withPlace } from "../body.ts";
import type { Endpoint, Exchange } from "../dependencies.ts";
import { captureCall } from "../request-capture.ts";
import { idBehind, originOf, pageAnswer, readPage, requireId } from "../request-parts.ts";
import { json } from "../respond.ts";
import { readTags } from "../tags.ts";

/** POST /v1/video/tasks: starts a task. A repeated `Idempotency-Key` returns the first task. */
export const createVideoTask = startsVideo({
  read: async (exchange, place) => ({ bytes: await readJsonPieces(exchange, place, videoBody), openai: null }),
  answer: (exchange, task) => json(taskAnswer(task, originOf(exchange))),
  rename: (failure) => failure,
});

/** GET /v1/video/tasks: the workspace's tasks, newest first; `?status=` and `?model=` filter. */
export const listVideoTasks = withKey(async (exchange, { workspace }) => {
  const { videos } = exchange.dependencies;
  const query = new URLSearchParams(exchange.query);
  const status = query.get("status");
  const model = query.get("model");
  const filter = {
    workspaceId: workspace.id,
    ...(model === null ? {} : { model }),
    ...(status === null ? {} : { states: statesOf(status) }),
  };
  const { tasks, next } = await readPage(query, (after, limit) => videos.page(filter, after, limit));
  const origin = originOf(exchange);
  const data = tasks.map((task) => taskAnswer(task, origin));
  return pageAnswer(data, next);
});

/** GET /v1/video/tasks/{id}: the task, refreshed if it is stale. */
export const getVideoTask = withKey(async (exchange, { workspace }) =>
  taskAnswer(await exchange.dependencies.videos.get(workspace.id, taskId(exchange)), originOf(exchange)),
);

/** DELETE /v1/video/tasks/{id}: cancels the task if its vendor supports that. */
export const cancelVideoTask = withKey(async (exchange, { workspace }) =>
  taskAnswer(await exchange.dependencies.videos.cancel(workspace.id, taskId(exchange)), originOf(exchange)),
);

/** GET /v1/video/tasks/{id}/content: the video's bytes; supports ranges. */
export const videoContent = withKey((exchange, principal) => sendVideo(exchange, principal, taskId(exchange), null));

/**
 * POST /v1/video/callbacks/{id}/{token}: a vendor reports a change. It only triggers a poll, and the body is read only with a valid
 * token.
 */
export const videoCallback: Endpoint = (exchange) =>
  withPlace(exchange, anonymousOwner(exchange.address), async (place) => {
    const [id = "", token = ""] = exchange.path.slice("/v1/video/callbacks/".length).split("/");
    const readBody = async () => wholeOf(await readJsonPieces(exchange, place, callbackBody));
    const taskId = requireId(id, "vt_", "task_not_found");
    const found = await exchange.dependencies.videos.handleCallback(taskId, token, readBody);
    if (!found) throw new Failure("task_not_found", "There is no task for this callback.");
    return new Response(null, { status: 204 });
  });

function taskId(exchange: Exchange): string {
  return requireId(taskIdOf(idBehind("/v1/video/tasks/", exchange)), "vt_", "task_not_found");
}

function statesOf(status: string): readonly TaskState[] {
  const shown = shownStates.find((one) => one === status);
  if (shown !== undefined) return statesShownAs(shown);
  throw new Failure("invalid_request", `status must be one of ${shownStates.join(", ")}.`, { param: "status" });
}

const shownStates = ["queued", "running", "succeeded", "failed", "cancelled", "expired"] as const;

/** The bytes, or the requested range, of a video or of a still of it. */
export async function sendVideo(
  { dependencies, request }: Exchange,
  { workspace }: Principal,
  id: string,
  still: ContentOptions["still"],
): Promise<Response> {
  const options = { range: request.headers.get("range"), still };
  const content = await dependencies.videos.content(workspace.id, id, options, abortSignalOf(request.signal));
  const isHead = request.method === "HEAD";
  if (isHead) await content.body?.cancel();
  return new Response(isHead ? null : content.body, content);
}

/** How an endpoint that starts video tasks differs from the others. */
interface VideoEndpoint {
  /** Reads the body within its bounds. */
  read(exchange: Exchange, place: HeldMemory, principal: Principal): Promise<SentBody>;
  answer(exchange: Exchange, task: Task): Response;
  /** The failure with the caller's names of fields. */
  rename(failure: Failure, renamed: RenamedMembers): Failure;
}

/** Authenticates the caller, reads its body, and starts a video task. */
export function startsVideo(endpoint: VideoEndpoint): Endpoint {
  return withKey(async (exchange, principal) => {
    const { videos } = exchange.dependencies;
    if (mayBeLarge(exchange.request)) await videos.check(principal);
    const call = await readCall(exchange, principal, endpoint);
    try {
      return endpoint.answer(exchange, await videos.create(call));
    } catch (thrown) {
      throw endpoint.rename(asFailure(thrown), call.body.renamed);
    }
  });
}

/** Afterward only the body's material is held in memory. */
async function readCall(exchange: Exchange, principal: Principal, endpoint: VideoEndpoint): Promise<CreateCall> {
  const { dependencies, request, requestId } = exchange;
  const place = dependencies.memory.open(principal, "request");
  try {
    const signal = abortSignalOf(request.signal);
    const read = await checkedVideo(exchange, principal, await endpoint.read(exchange, place, principal));
    const size = sizeOf(read.bytes);
    const { body, sent } = await dependencies.videos.read(read, signal);
    const model = body.value["model"];
    checkField(model ?? null, "model", videoTaskFields.model);
    if (typeof model !== "string") throw new Failure("internal_error", "A model that was checked is no text.");
    exchange.seen.model = model;
    const configSnapshot = dependencies.configSnapshot();
    const models = callableModels(configSnapshot, principal, model);
    if (models.length === 0) throw noModel(configSnapshot, principal, model);
    const call: CreateCall = {
      ...{ requestId, principal, model, models, body, held: place, signal },
      idempotencyKey: readIdempotencyKey(request.headers),
      userAgent: (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax),
      tags: readTags(request.headers, principal),
      shadowDenials: shadowDenials(principal, model),
    };
    captureCall(exchange, { principal, endpoint: "video", body: sent, models });
    place.hold(body.material?.size ?? Math.min(size, body.text.length));
    return call;
  } catch (thrown) {
    place.release();
    throw thrown;
  }
}

/** The body as the guardrails of the caller let it pass. */
async function checkedVideo(
  { dependencies, requestId }: Exchange,
  principal: Principal,
  read: SentBody,
): Promise<SentBody> {
  const checked = await dependencies.relay.checkBody({ requestId, principal }, read.bytes);
  return checked === null ? read : { ...read, bytes: checked };
}

function readIdempotencyKey(headers: HeaderReader): string | null {
  const key = headers.get("idempotency-key");
  if (key === null || key === "") return null;
  if (key.length <= bounds.affinityBytesMax) return key;
  throw new Failure("invalid_request", `Idempotency-Key is longer than ${bounds.affinityBytesMax} characters.`, {
    param: "Idempotency-Key",
  });
}
