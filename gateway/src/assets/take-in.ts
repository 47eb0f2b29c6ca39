import { type Asset, type AssetType, asFailure, bounds } from "#core/index.ts";
import type { AnswerBody, BlobInfo } from "#ports/index.ts";
import { isRefusal, type Refusal, refused, refusedForNow } from "./asset-refusal.ts";
import { assetBytesMax, tooLargeFor } from "./asset-sizes.ts";
import { BlobView } from "./blob-view.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { measureProblem } from "./measure.ts";
import { mediaTypeOf } from "./media-type.ts";
import { broken, openSource } from "./open-source.ts";

/** Silence between two pieces of a fetched asset. */
const assetIdleMs = 20_000;

export interface TakenIn {
  readonly blob: BlobInfo;
  readonly contentType: string;
}

/**
 * Fetches an asset into the blob store, judging it on the way: a wrong type ends it after the first bytes, a wrong size as
 * soon as it is seen. `drop` lets go of bytes that were stored and then found unfit.
 */
export async function takeIn(
  asset: Pick<Asset, "sourceUrl" | "type">,
  dependencies: Pick<AssetsDependencies, "blobs" | "transport" | "clock" | "observer">,
  drop: (hash: string) => Promise<void>,
  signal: AbortSignal,
): Promise<TakenIn | Refusal> {
  const answer = await openSource(asset.sourceUrl, dependencies, signal);
  if (isRefusal(answer)) return answer;
  const { body } = answer;
  try {
    const declared = Number(answer.headers.get("content-length") ?? 0);
    if (declared > assetBytesMax[asset.type]) return tooLarge(asset.type);
    const opening = await readOpening(body);
    if (isRefusal(opening)) return opening;
    const media = mediaTypeOf(opening.begin);
    if (media === null) return refused("unsupported_type", "What is at the address is no format that assets may have.");
    if (media.type !== asset.type) {
      return refused("wrong_type", `asset_type is ${asset.type}, but what is at the address is ${media.contentType}.`);
    }
    const blob = await store(opening, body, { type: asset.type, dependencies, signal });
    if (isRefusal(blob)) return blob;
    const problem = await measureProblem(new BlobView(dependencies.blobs, blob), media);
    if (problem === null) return { blob, contentType: media.contentType };
    await drop(blob.hash);
    return problem;
  } finally {
    body.cancel();
  }
}

function tooLarge(type: AssetType): Refusal {
  return refused("too_large", tooLargeFor(type));
}

/** What was read to see the type. `unsent` is let go of when it is stored: it may be a megabyte. */
interface Opening {
  readonly begin: Uint8Array;
  unsent: Uint8Array | null;
}

/** As many pieces as it takes to see the type. */
async function readOpening(body: AnswerBody): Promise<Opening | Refusal> {
  let bytes: Uint8Array = new Uint8Array(0);
  while (bytes.length < bounds.mediaOpeningBytes) {
    try {
      const piece = await body.read("idle", assetIdleMs);
      if (piece === null) break;
      bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece]);
    } catch (thrown) {
      return broken(thrown);
    }
  }
  return { begin: new Uint8Array(bytes.subarray(0, bounds.mediaOpeningBytes)), unsent: bytes };
}

interface Dependencies {
  readonly type: AssetType;
  readonly dependencies: Pick<AssetsDependencies, "blobs" | "observer">;
  readonly signal: AbortSignal;
}

/** One piece for each pull, so that no more than a piece is ever held, and a slow disk slows the host. */
async function store(
  opening: Opening,
  body: AnswerBody,
  { type, dependencies, signal }: Dependencies,
): Promise<BlobInfo | Refusal> {
  let hostFailed: unknown = null;
  const bytes = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = opening.unsent ?? (await body.read("idle", assetIdleMs));
          opening.unsent = null;
          if (piece === null) controller.close();
          else controller.enqueue(piece);
        } catch (thrown) {
          hostFailed = thrown;
          controller.error(thrown);
        }
      },
      cancel: () => body.cancel(),
    },
    { highWaterMark: 0 },
  );
  try {
    return await dependencies.blobs.put(bytes, assetBytesMax[type], signal);
  } catch (thrown) {
    if (hostFailed !== null) return broken(hostFailed);
    if (asFailure(thrown).code === "request_too_large") return tooLarge(type);
    if (!signal.aborted) dependencies.observer.log("error", "An asset could not be stored.", { error: thrown });
    return refusedForNow("storage_failed", "The bytes could not be stored.");
  }
}
