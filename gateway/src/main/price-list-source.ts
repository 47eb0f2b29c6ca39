import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { bounds, Failure } from "#core/index.ts";
import type { Transport } from "#ports/index.ts";

/** The price list: characters of its data, and how long its address may take to send it. */
const priceListFetchMs = 60_000;

/** The data of a price list as it was read, and what it may be told by. */
export interface ReadPriceList {
  readonly text: string;
  /** SHA-256 of the text, in hexadecimal. */
  readonly digest: string;
  readonly source: string;
}

/** Reads an https address or a file, bounded in size and time. Throws a Failure that says what is wrong. */
export async function readPriceListFrom(
  from: string,
  transport: Pick<Transport, "send">,
  signal: AbortSignal,
): Promise<ReadPriceList> {
  return priceListOf(from, await readSource(from, transport, signal));
}

/** What these bytes say; a mark of their order in front is not in the text. */
export function priceListOf(from: string, bytes: Uint8Array): ReadPriceList {
  const text = new TextDecoder().decode(bytes);
  return { text, digest: createHash("sha256").update(bytes).digest("hex"), source: shownSource(from) };
}

export async function readSource(
  from: string,
  transport: Pick<Transport, "send">,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  if (scheme === "https") return await fetched(from, transport, signal);
  if (scheme !== undefined) throw refusal(`${scheme} addresses are not read: prices come by https, or from a file`);
  const size = await stat(from).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  );
  if (size === null) throw refusal(`there is no file ${from}`);
  if (size > bounds.priceListBytesMax) throw refusal(`${from} has more than ${bounds.priceListBytesMax} bytes`);
  return await readFile(from, { signal });
}

async function fetched(url: string, transport: Pick<Transport, "send">, signal: AbortSignal): Promise<Uint8Array> {
  const totalMs = priceListFetchMs;
  const request = {
    method: "GET",
    url,
    headers: { accept: "application/json" },
    body: null,
    allowPrivateNetwork: false,
    ...{ connectMs: 10_000, headersMs: 30_000, totalMs, ownConnection: true },
  } as const;
  try {
    const answer = await transport.send(request, AbortSignal.any([signal, AbortSignal.timeout(totalMs)]));
    if (answer.status !== 200) {
      answer.body.cancel();
      throw refusal(`it answered with status ${answer.status}`);
    }
    return await answer.body.readAll(bounds.priceListBytesMax, "total", totalMs);
  } catch (thrown) {
    throw thrown instanceof Failure ? refusal(`${shownSource(url)}: ${thrown.message}`) : thrown;
  }
}

/** An address may hold a token behind its `?`: that is nobody's to read later. */
function shownSource(from: string): string {
  const url = URL.parse(from);
  return url === null || url.protocol !== "https:" ? from : `${url.origin}${url.pathname}`;
}

function refusal(message: string): Failure {
  return new Failure("invalid_request", message);
}
