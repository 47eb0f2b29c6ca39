import { type Asset, type AssetType, asFailure, bounds, pulledStream } from "#core/index.ts";
import type { AnswerBody, BlobInfo, Clock, OutboundAnswer, Transport } from "#ports/index.ts";
import type { AssetsDependencies } from "./dependencies.ts";
import { BlobView, finalRefusal, isRefusal, measureProblem, type Refusal, retryableRefusal } from "./measure.ts";
import { assetBytesMax, mediaTypeOf, tooLargeFor } from "./media-type.ts";

/** Idle timeout of a fetch. */
const assetIdleMs = 20_000;

/** Fetches an asset into the blob store. Stops at a wrong type or size. `drop` removes stored bytes that fail a check. */
export async function fetchAsset(
  asset: Pick<Asset, "sourceUrl" | "type">,
  dependencies: Pick<AssetsDependencies, "blobs" | "transport" | "clock" | "observer">,
  drop: (hash: string) => Promise<void>,
  signal: AbortSignal,
): Promise<{ readonly blob: BlobInfo; readonly contentType: string } | Refusal> {
  const answer = await openSource(asset.sourceUrl, dependencies, signal);
  if (isRefusal(answer)) return answer;
  const { body } = answer;
  try {
    const declared = Number(answer.headers.get("content-length") ?? 0);
    if (declared > assetBytesMax[asset.type]) return tooLarge(asset.type);
    const opening = await readOpening(body);
    if (isRefusal(opening)) return opening;
    const media = mediaTypeOf(opening.begin);
    if (media === null) return finalRefusal("unsupported_type", "The format of the file at the URL is not supported.");
    if (media.type !== asset.type) {
      return finalRefusal(
        "wrong_type",
        `asset_type is ${asset.type}, but the file at the URL is ${media.contentType}.`,
      );
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
  return finalRefusal("too_large", tooLargeFor(type));
}

/** The first bytes. `unsent` is released when it is stored, since it may be a megabyte. */
interface Opening {
  readonly begin: Uint8Array;
  unsent: Uint8Array | null;
}

/** Reads enough bytes to detect the type. */
async function readOpening(body: AnswerBody): Promise<Opening | Refusal> {
  let bytes: Uint8Array = new Uint8Array(0);
  while (bytes.length < bounds.mediaOpeningBytes) {
    try {
      const piece = await body.read("idle", assetIdleMs);
      if (piece === null) break;
      bytes = bytes.length === 0 ? piece : Buffer.concat([bytes, piece]);
    } catch (thrown) {
      return fetchFailure(thrown);
    }
  }
  return { begin: new Uint8Array(bytes.subarray(0, bounds.mediaOpeningBytes)), unsent: bytes };
}

/** Streams piece by piece, at the speed of the disk. */
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
    if (hostFailed !== null) return fetchFailure(hostFailed);
    if (asFailure(thrown).code === "request_too_large") return tooLarge(type);
    if (!signal.aborted) dependencies.observer.log("error", "failed to store an asset", { error: thrown });
    return retryableRefusal("storage_failed", "The bytes could not be stored.");
  }
}

/** Bounds for the whole fetch. */
const assetFetchMs = 120_000;
const assetRedirectsMax = 3;

/** Statuses worth a retry. */
const temporaryStatuses: ReadonlySet<number> = new Set([408, 421, 425, 429]);
const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Requests a caller's URL. Never enters a private network, and checks each redirect. End or cancel the body of the answer. */
async function openSource(
  address: string,
  { transport, clock }: { readonly transport: Transport; readonly clock: Clock },
  signal: AbortSignal,
): Promise<OutboundAnswer | Refusal> {
  const problem = fetchProblem(address);
  if (problem !== null) return finalRefusal("fetch_failed", `The address ${problem}.`);
  const endMs = clock.monotonic() + assetFetchMs;
  let url = withoutFragment(address);
  for (let redirects = 0; redirects <= assetRedirectsMax; redirects++) {
    const leftMs = endMs - clock.monotonic();
    if (leftMs <= 0) break;
    const answer = await ask(url, leftMs, transport, signal);
    if (!("body" in answer)) return answer;
    if (!redirectStatuses.has(answer.status)) return checkAnswer(answer);
    answer.body.cancel();
    const next = redirectUrl(url, answer.headers.get("location") ?? "");
    if ("problem" in next) return finalRefusal("fetch_failed", `The address ${next.problem}.`);
    url = withoutFragment(next.url);
  }
  return finalRefusal("fetch_failed", `The address redirects more than ${assetRedirectsMax} times.`);
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
    return fetchFailure(thrown);
  }
}

/** A transport failure as the caller may see it, without details of our network. */
function fetchFailure(thrown: unknown): Refusal {
  const { code, accountFault } = asFailure(thrown);
  if (accountFault === "url" || accountFault === "private_address" || accountFault === "forbidden_address") {
    return finalRefusal("fetch_failed", "The host's address is not public.");
  }
  if (code === "upstream_timeout") return retryableRefusal("fetch_failed", "The host did not answer in time.");
  if (code === "upstream_truncated") return retryableRefusal("fetch_failed", "The host closed the connection early.");
  return retryableRefusal("fetch_failed", "The host could not be reached.");
}

function checkAnswer(answer: OutboundAnswer): OutboundAnswer | Refusal {
  const { status, headers, body } = answer;
  const encoding = headers.get("content-encoding") ?? "identity";
  if (status === 200 && encoding.toLowerCase() === "identity") return answer;
  body.cancel();
  if (status === 200)
    return finalRefusal("fetch_failed", "The host sent a compressed response, which is not supported.");
  const message = `The host returned status ${status}.`;
  return status >= 500 || temporaryStatuses.has(status)
    ? retryableRefusal("fetch_failed", message)
    : finalRefusal("fetch_failed", message);
}

function withoutFragment(address: string): string {
  const url = new URL(address);
  url.hash = "";
  return url.href;
}

/** Parsers disagree on these characters, and CR LF could inject a header. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsafe = /[\u0000-\u0020\u007f\\]/;

/** A problem with a caller's URL, as the end of a sentence; null if there is none. */
export function urlProblem(text: string): string | null {
  if (Buffer.byteLength(text) > bounds.urlBytesMax) return `is longer than ${bounds.urlBytesMax} bytes`;
  if (unsafe.test(text)) return "contains a space, a backslash or a control character";
  if (!URL.canParse(text)) return "is not an absolute URL";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "is neither http nor https";
  if (url.username !== "" || url.password !== "" || url.host === "") return "contains credentials or has no host";
  return null;
}

/** Stricter, for URLs that the gateway fetches: other ports could be public databases or queues. */
export function fetchProblem(text: string): string | null {
  const problem = urlProblem(text);
  if (problem !== null) return problem;
  // Empty for the default port.
  const { port } = new URL(text);
  return port === "" || port === "80" || port === "443" ? null : "uses a port other than 80 and 443";
}

/** Checks a redirect like the first URL; from https it must not lead to http. */
export function redirectUrl(from: string, location: string): { readonly url: string } | { readonly problem: string } {
  if (unsafe.test(location) || !URL.canParse(location, from)) return { problem: "redirects to an invalid URL" };
  const url = new URL(location, from).href;
  const problem = fetchProblem(url);
  if (problem !== null) return { problem: `redirects to an address that ${problem}` };
  if (from.startsWith("https:") && url.startsWith("http:")) return { problem: "redirects from https to http" };
  return { url };
}
