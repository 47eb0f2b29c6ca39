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
  within,
} from "#core/index.ts";
import type { Transport } from "#ports/index.ts";
import { objectOf, parseObject } from "#protocols/index.ts";
import { isGood, type RequestClocks, type WholeAnswer } from "#provider-client/index.ts";
import { accountRedactor, fileApiOf, type OutboundDraft } from "#providers/index.ts";
import { fetchBytes } from "#relay/index.ts";
import type { LoadedMaterial } from "../accept/task-body.ts";
import { type VideoRequest, withReferences } from "../accept/validate-video.ts";
import { findFile } from "../accept/video-files.ts";
import type { TaskDependencies } from "../dependencies.ts";
import type { MemoryHold } from "../options.ts";
import { neverAborted, noVideoAdapter, upstreamCallbackUrl } from "../upstream-call.ts";
import { matchVideoLane, type VideoLaneMatch, vendorRatio, videoKindOf } from "../video-lanes.ts";

/** `refused` is used only if the upstream certainly does not have the task. */
export type CreateResult =
  | { readonly kind: "accepted"; readonly upstreamId: string }
  | { readonly kind: "refused"; readonly failure: Failure }
  | { readonly kind: "unknown"; readonly failure: Failure };

/** Builds and authorizes the request. Nothing is sent. The result holds memory until it is released. */
export async function prepareCreate(
  dependencies: TaskDependencies,
  task: Task,
  { request, material }: { readonly request: VideoRequest; readonly material: LoadedMaterial | null },
  deployment: Deployment,
  upstreamIds: ReadonlyMap<string, string>,
): Promise<{ readonly draft: OutboundDraft; readonly release: () => void }> {
  const { provider, upstreamModel } = deployment;
  const match = matchVideoLane(deployment);
  if (match === null) throw noVideoAdapter(provider.kind);
  const { id: taskId, attemptId } = task;
  const held = dependencies.memory.open(ownerOf(task), "request");
  try {
    const resolved = await vendorTurn(dependencies, task, { request, upstreamIds, held }, match);
    const mustFetch = match.adapter.materialAs === "data";
    const { turn, media } = mustFetch ? await fetchMaterial(resolved, taskId, dependencies.transport) : resolved;
    held.hold(encodedSizeFactor * sizeOf(media));
    const done = await dependencies.bodies.do(
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
    material?.putBack(done.body);
    const { made, answer } = outcomeOf(done);
    const { method, url } = answer;
    const headers = { ...answer.headers, "x-attempt-id": attemptId };
    const draft: OutboundDraft = { provider, upstreamModel, stream: false, method, url, headers, body: made };
    await dependencies.providerClient.authorize(match.kind, draft, neverAborted());
    return { draft, release: () => held.release() };
  } catch (thrown) {
    held.release();
    throw thrown;
  }
}

/** The bytes and their base64 form. */
const encodedSizeFactor = 7 / 3;

const readLimits = { bytesMax: bounds.replyBytesMax, limitMs: bounds.taskPollHeadersMs };

/** Sends it once. Never throws. */
export async function sendCreate(
  { providerClient }: TaskDependencies,
  draft: OutboundDraft,
  provider: Provider,
): Promise<CreateResult> {
  const found = videoKindOf(provider.kind);
  if (found === null) return { kind: "refused", failure: noVideoAdapter(provider.kind) };
  let answer: WholeAnswer | null = null;
  let refusedWith: number | null = null;
  try {
    const { connectMs, headersMs } = provider.timeouts;
    const totalMs = bounds.taskSubmitAttemptMs;
    const clocks: RequestClocks = { connectMs, headersMs: Math.min(headersMs, totalMs), totalMs, ownConnection: true };
    const response = await providerClient.send(draft, clocks, neverAborted());
    if (!isGood(response.status)) refusedWith = response.status;
    answer = await providerClient.read(provider, response, readLimits);
    if (answer.good) return { kind: "accepted", ...found.adapter.readCreated(answer, draft) };
    const failure = accountRedactor(provider).failure(found.kind.classify(answer));
    return isRefusalStatus(answer.status, answer.body) ? refused(failure) : { kind: "unknown", failure };
  } catch (thrown) {
    const failure = accountRedactor(provider).failure(asFailure(thrown));
    return isRefusal(failure, answer, refusedWith) ? refused(failure) : { kind: "unknown", failure };
  }
}

/** The upstream certainly has no task, so the next deployment may be tried. */
function refused(failure: Failure): CreateResult {
  return { kind: "refused", failure: failure.arrival === "unsent" ? failure : failure.with({ arrival: "refused" }) };
}

/**
 * True if nothing was sent, or the upstream refused: by its status, or inside a 2xx that the adapter read. A 2xx without a
 * task id, a broken connection and a timeout leave doubt.
 */
function isRefusal(failure: Failure, answer: WholeAnswer | null, refusedWith: number | null): boolean {
  if (answer !== null) return answer.good && failure.arrival === "refused";
  if (refusedWith !== null) return isRefusalStatus(refusedWith, null);
  return failure.arrival === "unsent";
}

/**
 * Whether a status proves that no task was created. Most 5xx do not: the vendor may have created the task before it failed,
 * and a proxy (502, 504, 520, 524) does not know. 501 and 505 do. So do 503 and 529 with the vendor's own JSON; without it
 * a proxy may have lost the connection.
 */
function isRefusalStatus(status: number, body: Uint8Array | null): boolean {
  if (status < 500) return status !== 408;
  if (status === 503 || status === 529) return body !== null && parseObject(new TextDecoder().decode(body)) !== null;
  return status === 501 || status === 505;
}

/** Downloads material for vendors that do not fetch URLs. Throws Failure invalid_request. */
async function fetchMaterial({ turn, media }: VendorTurn, taskId: string, transport: Transport): Promise<VendorTurn> {
  const found: InlineMedia[] = [...media];
  const material: VideoMaterial[] = [];
  // Sequentially: their total size is limited.
  for (const one of turn.material) {
    if (!/^https?:/i.test(one.url)) {
      material.push(one);
      continue;
    }
    const fetched = await fetchBytes(
      one.url,
      { transport, signal: neverAborted() },
      bounds.inlinedBytesMax - sizeOf(found),
    );
    // A unique placeholder, since the URL may appear elsewhere in the body.
    const url = `sluice-fetched:${taskId}:${found.length}`;
    found.push({ url, ...fetched });
    material.push({ ...one, url });
  }
  return { turn: { ...turn, material }, media: found };
}

/** Bytes that replace a URL or a reference. */
interface InlineMedia {
  readonly url: string;
  readonly mediaType: string;
  readonly bytes: Uint8Array;
}

interface VendorTurn {
  readonly turn: VideoTurn;
  readonly media: readonly InlineMedia[];
}

interface Resolving {
  readonly request: VideoRequest;
  readonly upstreamIds: ReadonlyMap<string, string>;
  /** For bytes that go inside the request. */
  readonly held: MemoryHold;
}

/** The request for this account: assets, files and earlier tasks with the upstream's ids, or their bytes. */
async function vendorTurn(
  dependencies: TaskDependencies,
  { workspaceId }: Task,
  { request, upstreamIds, held }: Resolving,
  match: VideoLaneMatch,
): Promise<VendorTurn> {
  const { assets } = dependencies;
  const { provider, capabilities } = match;
  const media: InlineMedia[] = [];
  const replacements = new Map(upstreamIds);
  const types = new Map<string, VideoMaterial["type"]>();
  if (assets !== null) {
    for (const id of request.references.assetIds) {
      const { url, type, inline } = await assets.resolve(workspaceId, id, provider);
      if (inline !== null) media.push({ url, ...inline });
      if (sizeOf(media) > bounds.inlinedBytesMax) {
        throw new Failure(
          "invalid_request",
          `The assets of this task exceed ${bounds.inlinedBytesMax} bytes, the most that fits inside a request. Set SLUICE_PUBLIC_URL so that upstreams can fetch them.`,
        );
      }
      replacements.set(id, url);
      types.set(`asset://${id}`, type);
    }
  }
  const copies = await resolveFiles(dependencies, workspaceId, { request, held }, match, { media, types });
  const { params: fields, prompt, material, content, vendorFields, wantsLastFrame } = request;
  const { remixOf, ...params } = fields;
  const remixed = remixOf === undefined ? undefined : upstreamIds.get(remixOf);
  const turn: VideoTurn = {
    ...params,
    ...(remixed === undefined ? {} : { remixOf: remixed }),
    prompt,
    ratio: vendorRatio(params.ratio, capabilities),
    // The type of the asset or file itself wins.
    material: material.map((one) => ({
      ...one,
      type: types.get(one.url) ?? one.type,
      url: copies.get(one.url) ?? String(withReferences(one.url, replacements)),
    })),
    content: content?.map((item) => withReferences(item, replacements)) ?? null,
    vendorFields: objectOf(withReferences(vendorFields, replacements)),
    wantsLastFrame,
  };
  return { turn, media };
}

/** Adds the bytes of files and their types. Resolves to the names of copies in the account, if its videos take files by name. */
async function resolveFiles(
  dependencies: TaskDependencies,
  workspaceId: string,
  { request, held }: Pick<Resolving, "request" | "held">,
  { provider, adapter }: VideoLaneMatch,
  { media, types }: { readonly media: InlineMedia[]; readonly types: Map<string, VideoMaterial["type"]> },
): Promise<ReadonlyMap<string, string>> {
  const { files, clock } = dependencies;
  const api = adapter.takesFiles === true ? fileApiOf(provider.kind) : null;
  const copies = new Map<string, string>();
  for (const named of request.files) {
    const { url } = named;
    if (types.has(url)) continue;
    const { file, type } = await findFile(dependencies, workspaceId, named);
    types.set(url, type);
    if (api === null) {
      held.hold(encodedSizeFactor * (sizeOf(media) + file.sizeBytes));
      media.push({ url, mediaType: file.mediaType, bytes: await new Response(await files.open(file)).bytes() });
      continue;
    }
    const copying = files.copies.at(file, provider, api, neverAborted());
    const { uri } = await within(clock, bounds.taskSubmitAttemptMs, copying, () => {
      throw new Failure("upstream_timeout", "The file could not be uploaded to the provider in time.", {
        retry: "other",
      });
    });
    copies.set(url, `file:${uri}`);
  }
  return copies;
}

function sizeOf(media: readonly InlineMedia[]): number {
  return media.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
