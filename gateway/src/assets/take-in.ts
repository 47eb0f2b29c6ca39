import { type Asset, type AssetType, asFailure, bounds, pulledStream } from "#core/index.ts";
import type { AnswerBody, BlobInfo, Clock, OutboundAnswer, Transport } from "#ports/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { BlobView, isRefusal, measureProblem, type Refusal, refused, refusedForNow } from "./measure.ts";
import { assetBytesMax, mediaTypeOf, tooLargeFor } from "./media-type.ts";

/** Silence between two pieces of a fetched asset. */
const assetIdleMs = 20_000;

interface TakenIn {
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
    const blob = await store(opening, body, asset.type, dependencies, signal);
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

/** One piece for each pull, so that no more than a piece is ever held, and a slow disk slows the host. */
async function store(
  opening: Opening,
  body: AnswerBody,
  type: AssetType,
  dependencies: Pick<AssetsDependencies, "blobs" | "observer">,
  signal: AbortSignal,
): Promise<BlobInfo | Refusal> {
  let hostFailed: unknown = null;
  const next = async (): Promise<Uint8Array | null> => {
    const { unsent } = opening;
    opening.unsent = null;
    return unsent ?? (await body.read("idle", assetIdleMs));
  };
  const bytes = pulledStream(
    () =>
      next().catch((thrown: unknown) => {
        hostFailed = thrown;
        throw thrown;
      }),
    () => body.cancel(),
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

/** The whole fetch of an asset from its address, and its redirects. */
const assetFetchMs = 120_000;
const assetMovesMax = 3;

/** Answers after which the same question may be answered better. */
const passing: ReadonlySet<number> = new Set([408, 421, 425, 429]);
const moved: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Asks for the bytes at a caller's address. It comes from outside, so it is never let into a private network, and one that
 * moves is followed a few times, through the guard each time. Whoever gets the answer must end or cancel its body.
 */
async function openSource(
  address: string,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
  signal: AbortSignal,
): Promise<OutboundAnswer | Refusal> {
  const problem = fetchProblem(address);
  if (problem !== null) return refused("fetch_failed", `The address ${problem}.`);
  const endMs = clock.monotonic() + assetFetchMs;
  let url = withoutFragment(address);
  for (let moves = 0; moves <= assetMovesMax; moves++) {
    const leftMs = endMs - clock.monotonic();
    if (leftMs <= 0) break;
    const answer = await ask(url, leftMs, transport, signal);
    if (!("body" in answer)) return answer;
    if (!moved.has(answer.status)) return judged(answer);
    answer.body.cancel();
    const next = nextAddress(url, answer.headers.get("location") ?? "");
    if ("problem" in next) return refused("fetch_failed", `The address ${next.problem}.`);
    url = withoutFragment(next.url);
  }
  return refused("fetch_failed", `The address moves more than ${assetMovesMax} times.`);
}

async function ask(
  url: string,
  totalMs: number,
  transport: Transport,
  signal: AbortSignal,
): Promise<OutboundAnswer | Refusal> {
  try {
    return await transport.send(
      {
        method: "GET",
        url,
        headers: { accept: "*/*", "user-agent": "sluice" },
        body: null,
        connectMs: bounds.assetConnectMs,
        headersMs: bounds.assetHeadersMs,
        totalMs,
        allowPrivateNetwork: false,
      },
      signal,
    );
  } catch (thrown) {
    return broken(thrown);
  }
}

/**
 * The transport's failures, told without what they say of our side: the message is for whoever gave the address. What the guard
 * refuses, it refuses the next time too.
 */
function broken(thrown: unknown): Refusal {
  const { code, accountFault } = asFailure(thrown);
  if (accountFault === "url" || accountFault === "private_address" || accountFault === "forbidden_address") {
    return refused("fetch_failed", "The host's address is not a public one.");
  }
  if (code === "upstream_timeout") return refusedForNow("fetch_failed", "The host did not answer in time.");
  if (code === "upstream_truncated") return refusedForNow("fetch_failed", "The host broke off before the end.");
  return refusedForNow("fetch_failed", "The host could not be reached.");
}

function judged(answer: OutboundAnswer): OutboundAnswer | Refusal {
  const { status, headers, body } = answer;
  const encoding = headers.get("content-encoding") ?? "identity";
  if (status === 200 && encoding.toLowerCase() === "identity") return answer;
  body.cancel();
  if (status === 200) return refused("fetch_failed", "The host sent it compressed, though it was asked not to.");
  const message = `The host answered with status ${status}.`;
  return status >= 500 || passing.has(status)
    ? refusedForNow("fetch_failed", message)
    : refused("fetch_failed", message);
}

/** A fragment is the reader's own and is never sent. */
function withoutFragment(address: string): string {
  const url = new URL(address);
  url.hash = "";
  return url.href;
}

/** Control characters, blanks and backslashes: parsers disagree on them, and CR LF would write into a request. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsafe = /[\u0000-\u0020\u007f\\]/;

/** What is wrong with an address of a caller, in words that follow "it"; null when anybody may be asked to fetch it. */
export function addressProblem(text: string): string | null {
  if (Buffer.byteLength(text) > bounds.urlBytesMax) return `is longer than ${bounds.urlBytesMax} bytes`;
  if (unsafe.test(text)) return "holds a blank, a backslash or a control character";
  if (!URL.canParse(text)) return "is not an absolute URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "is neither http nor https";
  if (url.username !== "" || url.password !== "" || url.host === "") return "carries credentials or names no host";
  return null;
}

/**
 * The same for an address that we fetch ourselves. A caller that may choose the port can talk to a database or a queue that
 * happens to be public; material is served at the ports of the web.
 */
export function fetchProblem(text: string): string | null {
  const problem = addressProblem(text);
  if (problem !== null) return problem;
  // The parser leaves the port out where it is the scheme's own.
  const { port } = new URL(text);
  return port === "" || port === "80" || port === "443" ? null : "names a port other than 80 and 443";
}

/** Where a redirect leads, judged like the first address; a step down from https to http is refused. */
export function nextAddress(from: string, location: string): { readonly url: string } | { readonly problem: string } {
  if (unsafe.test(location) || !URL.canParse(location, from)) return { problem: "moves to what is not an address" };
  const url = new URL(location, from).href;
  const problem = fetchProblem(url);
  if (problem !== null) return { problem: `moves to an address that ${problem}` };
  if (from.startsWith("https:") && url.startsWith("http:")) return { problem: "moves from https to http" };
  return { url };
}
