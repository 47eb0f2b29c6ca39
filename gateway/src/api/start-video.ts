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
import { withKey } from "./authenticated.ts";
import { mayBeLarge } from "./body.ts";
import { callableModels, noModel } from "./callable-models.ts";
import type { Endpoint, Exchange } from "./dependencies.ts";
import { captureOf } from "./request-capture.ts";
import { renderFailure, withRequestId } from "./respond.ts";
import { readTags } from "./tags.ts";

/** How an endpoint that starts video tasks differs from the others. */
export interface VideoEndpoint {
  /** Reads the body within its bounds. */
  read(exchange: Exchange, place: HeldMemory, principal: Principal): Promise<SentBody>;
  answer(exchange: Exchange, task: Task): Response;
  /** The failure with the caller's names of fields. */
  rename(failure: Failure, renamed: RenamedMembers): Failure;
}

/** Authenticates the caller, reads its body, and starts a video task. */
export function startsVideo(endpoint: VideoEndpoint): Endpoint {
  return withKey(async (exchange, principal) => {
    const { dependencies, requestId } = exchange;
    if (mayBeLarge(exchange.request)) await dependencies.videos.check(principal);
    const { call, capture } = await readCall(exchange, principal, endpoint);
    try {
      const response = endpoint.answer(exchange, await dependencies.videos.create(call));
      await capture?.answered(withRequestId(response, requestId));
      return response;
    } catch (thrown) {
      const failure = endpoint.rename(asFailure(thrown), call.body.renamed);
      await capture?.answered(renderFailure(failure, requestId));
      throw failure;
    }
  });
}

/** Afterward only the body's material is held in memory. */
async function readCall(exchange: Exchange, principal: Principal, endpoint: VideoEndpoint) {
  const { dependencies, request, requestId } = exchange;
  const place = dependencies.memory.open(principal, "request");
  try {
    const signal = abortSignalOf(request.signal);
    const read = await endpoint.read(exchange, place, principal);
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
    };
    const capture = captureOf(exchange, { principal, endpoint: "video", body: sent, models });
    place.hold(body.material?.size ?? Math.min(size, body.text.length));
    return { call, capture };
  } catch (thrown) {
    place.release();
    throw thrown;
  }
}

function readIdempotencyKey(headers: HeaderReader): string | null {
  const key = headers.get("idempotency-key");
  if (key === null || key === "") return null;
  if (key.length <= bounds.affinityBytesMax) return key;
  throw new Failure("invalid_request", `Idempotency-Key is longer than ${bounds.affinityBytesMax} characters.`, {
    param: "Idempotency-Key",
  });
}
