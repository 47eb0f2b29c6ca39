import { videoTaskFields } from "@sluice/contract/words";
import { sizeOf } from "#bodies/index.ts";
import {
  abortSignalOf,
  asFailure,
  bounds,
  checkField,
  Failure,
  type HeaderReader,
  type HeldMemory,
  type Principal,
  type Task,
} from "#core/index.ts";
import type { RenamedMembers } from "#protocols/index.ts";
import type { CreateCall, SentBody } from "#tasks/index.ts";
import { authenticated } from "./authenticated.ts";
import { mayBeLarge } from "./body.ts";
import { callableModels, noModel } from "./callable-models.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";
import { captureOf, type RequestCapture } from "./request-capture.ts";
import { renderFailure } from "./respond.ts";
import { readTags } from "./tags.ts";

/** How one endpoint is asked for a video and tells of it; what happens between is the same at all of them. */
export interface VideoAsking {
  /** The body within its bounds. */
  read(place: HeldMemory, principal: Principal): Promise<SentBody>;
  answer(task: Task): Response;
  /** A failure in the words that the caller used. */
  told(failure: Failure, renamed: RenamedMembers): Failure;
}

/** Starts a video task, once its caller, its body and its model are known. */
export async function startVideo(
  dependencies: ApiDependencies,
  exchange: Exchange,
  asking: VideoAsking,
): Promise<Response> {
  const principal = await authenticated(dependencies, exchange);
  exchange.patient();
  if (mayBeLarge(exchange.request)) await dependencies.videos.check(principal);
  const place = dependencies.memory.open(principal, "request");
  let asked: Awaited<ReturnType<typeof readAsked>>;
  try {
    asked = await readAsked(dependencies, exchange, principal, place, asking);
  } catch (thrown) {
    place.release();
    throw thrown;
  }
  const { capture, call } = asked;
  try {
    const response = asking.answer(await dependencies.videos.create(call));
    await capture?.answered(response);
    return response;
  } catch (thrown) {
    const failure = asking.told(asFailure(thrown), call.body.renamed);
    await capture?.answered(renderFailure(failure, exchange.requestId));
    throw failure;
  }
}

/** Nothing but its material is held of the body when this is over. */
async function readAsked(
  dependencies: ApiDependencies,
  exchange: Exchange,
  principal: Principal,
  place: HeldMemory,
  asking: VideoAsking,
): Promise<{ readonly capture: RequestCapture | null; readonly call: CreateCall }> {
  const { request, requestId } = exchange;
  const signal = abortSignalOf(request.signal);
  const read = await asking.read(place, principal);
  const size = sizeOf(read.bytes);
  const { body, sent } = await dependencies.videos.read(read, signal);
  const model = body.value["model"];
  checkField(model ?? null, "model", videoTaskFields.model);
  if (typeof model !== "string") throw new Failure("internal_error", "A model that was checked is no text.");
  exchange.seen.model = model;
  const models = callableModels(dependencies.configSnapshot(), principal, model);
  if (models.length === 0) throw noModel(dependencies.configSnapshot(), principal, model);
  const tags = readTags(request.headers, principal);
  const idempotencyKey = readIdempotencyKey(request.headers);
  const userAgent = (request.headers.get("user-agent") ?? "").slice(0, bounds.userAgentBytesMax);
  const capture = captureOf(dependencies, exchange, { principal, endpoint: "video", body: sent, models });
  place.hold(body.material?.size ?? Math.min(size, body.text.length));
  const caller = { requestId, principal, userAgent, tags, idempotencyKey, signal };
  return { capture, call: { ...caller, body, model, models, held: place } };
}

function readIdempotencyKey(headers: HeaderReader): string | null {
  const key = headers.get("idempotency-key");
  if (key === null || key === "") return null;
  if (key.length <= bounds.affinityBytesMax) return key;
  throw new Failure("invalid_request", `Idempotency-Key is longer than ${bounds.affinityBytesMax} characters.`, {
    param: "Idempotency-Key",
  });
}
