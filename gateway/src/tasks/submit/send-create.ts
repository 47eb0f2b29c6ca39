import { outcomeOf } from "#bodies/index.ts";
import {
  asFailure,
  bounds,
  type Deployment,
  Failure,
  ownerOf,
  type Provider,
  type Task,
  type VideoMaterial,
  type VideoTurn,
} from "#core/index.ts";
import type { Transport } from "#ports/index.ts";
import { objectOf, parseObject } from "#protocols/index.ts";
import { isGood, type RequestClocks, type WholeAnswer } from "#provider-client/index.ts";
import { accountRedactor, type OutboundDraft } from "#providers/index.ts";
import { fetchBytes } from "#relay/index.ts";
import type { MaterialInHand } from "../accept/task-body.ts";
import { type VideoRequest, withReferences } from "../accept/validate-video.ts";
import type { TaskDependencies } from "../dependencies.ts";
import { adapterGone, ownSignal, upstreamCallbackUrl } from "../upstream-call.ts";
import { matchVideoLane, ratioFor, type VideoLaneMatch, videoKindOf } from "../video-lanes.ts";

/** What is certain after a task was sent. `refused` is only said when the upstream certainly does not have it. */
export type CreateResult =
  | { readonly kind: "accepted"; readonly upstreamId: string }
  | { readonly kind: "refused"; readonly failure: Failure }
  | { readonly kind: "unknown"; readonly failure: Failure };

/** The request that makes the task at this deployment, authorised. Nothing is sent yet. It holds room until it is released. */
export async function prepareCreate(
  dependencies: TaskDependencies,
  task: Task,
  { request, material }: { readonly request: VideoRequest; readonly material: MaterialInHand | null },
  deployment: Deployment,
  upstreamIds: ReadonlyMap<string, string>,
): Promise<{ readonly draft: OutboundDraft; readonly release: () => void }> {
  const { provider, upstreamModel } = deployment;
  const match = matchVideoLane(deployment);
  if (match === null) throw adapterGone(provider.kind);
  const { id: taskId, attemptId } = task;
  const resolved = await videoTurnFor(dependencies, task, request, match, upstreamIds);
  const fetches = match.adapter.materialAs === "data";
  const { turn, media } = fetches ? await fetchMaterial(resolved, taskId, dependencies.transport) : resolved;
  const held = dependencies.memory.open(ownerOf(task), "request");
  try {
    held.hold(inRequest * sizeOf(media));
    const worked = await dependencies.bodies.do(
      "video-request",
      {
        provider: { ...provider, secret: null },
        upstreamModel,
        turn,
        taskId,
        callbackUrl: upstreamCallbackUrl(dependencies, taskId),
        material: material?.info ?? null,
        media: media.map(({ url, mediaType }) => ({ url, mediaType })),
      },
      (await material?.take()) ?? new Uint8Array(0),
      { beside: media.map(({ bytes }) => bytes) },
    );
    material?.give(worked.body);
    const { made, answer } = outcomeOf(worked);
    const { method, url } = answer;
    const headers = { ...answer.headers, "x-attempt-id": attemptId };
    const draft: OutboundDraft = { provider, upstreamModel, stream: false, method, url, headers, body: made };
    await dependencies.providerClient.authorize(match.kind, draft, ownSignal());
    return { draft, release: () => held.release() };
  } catch (thrown) {
    held.release();
    throw thrown;
  }
}

/** Bytes, and the same again in base64. */
const inRequest = 7 / 3;

const readLimits = { bytesMax: bounds.replyBytesMax, limitMs: bounds.taskPollHeadersMs };

/** Sends it once. Never throws. */
export async function sendCreate(
  { providerClient }: TaskDependencies,
  draft: OutboundDraft,
  provider: Provider,
): Promise<CreateResult> {
  const found = videoKindOf(provider.kind);
  if (found === null) return { kind: "refused", failure: adapterGone(provider.kind) };
  let answer: WholeAnswer | null = null;
  let refusedWith: number | null = null;
  try {
    const { connectMs, headersMs } = provider.timeouts;
    const totalMs = bounds.taskSubmitAttemptMs;
    const clocks: RequestClocks = { connectMs, headersMs: Math.min(headersMs, totalMs), totalMs, ownConnection: true };
    const begun = await providerClient.send(draft, clocks, ownSignal());
    if (!isGood(begun.status)) refusedWith = begun.status;
    answer = await providerClient.read(provider, begun, readLimits);
    if (answer.good) return { kind: "accepted", ...found.adapter.readCreated(answer, draft) };
    const failure = accountRedactor(provider).failure(found.kind.classify(answer));
    return refuses(answer.status, answer.body) ? refused(failure) : { kind: "unknown", failure };
  } catch (thrown) {
    const failure = accountRedactor(provider).failure(asFailure(thrown));
    return isRefusal(failure, answer, refusedWith) ? refused(failure) : { kind: "unknown", failure };
  }
}

/** The next deployment may be asked without a count: this one certainly has nothing. */
function refused(failure: Failure): CreateResult {
  return { kind: "refused", failure: failure.arrival === "unsent" ? failure : failure.with({ arrival: "refused" }) };
}

/**
 * Whether a failure leaves no doubt: nothing was sent, or the upstream's answer was a refusal, inside a 2xx (which the
 * adapter read) or by its status, though its words broke off. A 2xx that names no task, a cut and a time-out leave doubt.
 */
function isRefusal(failure: Failure, answer: WholeAnswer | null, refusedWith: number | null): boolean {
  if (answer !== null) return answer.good && failure.arrival === "refused";
  if (refusedWith !== null) return refuses(refusedWith, null);
  return failure.arrival === "unsent";
}

/**
 * Whether a bad status says that no task was made. A 5xx does not: the vendor may have noted the task before it broke, and what
 * stands before a vendor (502, 504, 520, 524) does not know. Only what is said before anything begins is sure: that there is no
 * such thing, or that there is no room, by the vendor itself; a 503 without its JSON may be a proxy's word for a lost connection.
 */
function refuses(status: number, body: Uint8Array | null): boolean {
  if (status < 500) return status !== 408;
  if (status === 503 || status === 529) return body !== null && parseObject(new TextDecoder().decode(body)) !== null;
  return status === 501 || status === 505;
}

/** The turn with what stands at the addresses of its material beside it, for vendors that fetch none. Throws Failure invalid_request. */
async function fetchMaterial({ turn, media }: TurnFor, taskId: string, transport: Transport): Promise<TurnFor> {
  const found: PlacedMedia[] = [...media];
  const material: VideoMaterial[] = [];
  // One after the other: their sum is bounded.
  for (const one of turn.material) {
    if (!/^https?:/i.test(one.url)) {
      material.push(one);
      continue;
    }
    const fetched = await fetchBytes(
      one.url,
      { transport, signal: ownSignal() },
      bounds.inlinedBytesMax - sizeOf(found),
    );
    // The same address elsewhere in the body is not meant.
    const url = `sluice-fetched:${taskId}:${found.length}`;
    found.push({ url, ...fetched });
    material.push({ ...one, url });
  }
  return { turn: { ...turn, material }, media: found };
}

/** Bytes that are to stand in the place of an address or a reference. */
interface PlacedMedia {
  readonly url: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

interface TurnFor {
  readonly turn: VideoTurn;
  readonly media: readonly PlacedMedia[];
}

/** The request as this account's upstream is to be asked: assets and earlier tasks by the names that it knows. */
async function videoTurnFor(
  { assets }: TaskDependencies,
  { workspaceId }: Task,
  request: VideoRequest,
  { provider, capabilities }: VideoLaneMatch,
  upstreamIds: ReadonlyMap<string, string>,
): Promise<TurnFor> {
  const media: PlacedMedia[] = [];
  const known = new Map(upstreamIds);
  const types = new Map<string, VideoMaterial["type"]>();
  if (assets !== null) {
    for (const id of request.references.assetIds) {
      const { url, type, inline } = await assets.resolve(workspaceId, id, provider);
      if (inline !== null) media.push({ url, ...inline });
      if (sizeOf(media) > bounds.inlinedBytesMax) {
        throw new Failure(
          "invalid_request",
          `The assets of this task are more than the ${bounds.inlinedBytesMax} bytes that are sent inside a request, and this gateway has no public address under which an upstream could fetch them: set SLUICE_PUBLIC_URL.`,
        );
      }
      known.set(id, url);
      types.set(`asset://${id}`, type);
    }
  }
  const { asked: said, prompt, material, content, more, wantsLastFrame } = request;
  const { remixOf, ...asked } = said;
  const remixed = remixOf === undefined ? undefined : upstreamIds.get(remixOf);
  const turn: VideoTurn = {
    ...asked,
    ...(remixed === undefined ? {} : { remixOf: remixed }),
    prompt,
    ratio: ratioFor(asked.ratio, capabilities),
    // An asset knows best what it is.
    material: material.map((one) => ({
      ...one,
      type: types.get(one.url.toLowerCase().startsWith("asset:") ? one.url : "") ?? one.type,
      url: String(withReferences(one.url, known)),
    })),
    content: content?.map((item) => withReferences(item, known)) ?? null,
    more: objectOf(withReferences(more, known)),
    wantsLastFrame,
  };
  return { turn, media };
}

function sizeOf(media: readonly PlacedMedia[]): number {
  return media.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
