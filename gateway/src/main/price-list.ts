import { createHash, verify } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { PriceListSource } from "#config/index.ts";
import { bounds, Failure, LastingFault, sleep } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { Clock, Leadership, Observer, Transport } from "#ports/index.ts";
import { lastPriceListDate } from "#providers/index.ts";
import type { Metrics } from "#telemetry/index.ts";

export interface RefreshPriceListOptions {
  readonly controlStore: ControlStore;
  readonly transport: Pick<Transport, "send">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly leadership: Pick<Leadership, "lead">;
  readonly metrics: Pick<Metrics, "numbers">;
}

const auditSource = { actor: "catalogue of prices", ip: null };

/**
 * Looks for newer prices now and then, in one process of the installation. A price that somebody has set is never changed, and
 * what is there stays in force while the source cannot be read. Returns its own end.
 */
export function refreshPriceList(
  source: PriceListSource | null,
  options: RefreshPriceListOptions,
): () => Promise<void> {
  const { clock, observer, metrics } = options;
  let failures = 0;
  let waiting = 0;
  metrics.numbers({ sluice_catalogue_refresh_failures_total: () => failures });
  metrics.numbers({
    sluice_catalogue_prices_waiting: () => waiting,
    sluice_catalogue_age_seconds: () => (clock.now() - (lastPriceListDate() ?? clock.now())) / 1_000,
  });
  if (source === null) return async () => undefined;
  const fault = new LastingFault({
    ...{ clock, observer, level: "warn" },
    fault: "Newer prices could not be had; those in use stay. It is tried again.",
    over: "Newer prices can be had again.",
  });
  const lead = options.leadership.lead("catalogue", async ({ signal }) => {
    try {
      while (!signal.aborted) {
        try {
          waiting = await refreshOnce(source, options, signal);
          fault.passed();
        } catch (thrown) {
          if (signal.aborted) return;
          failures++;
          fault.failed({ error: thrown });
        }
        await sleep(clock, source.everyMs, signal);
      }
    } finally {
      // Whoever looks from now on tells of them.
      waiting = 0;
    }
  });
  return () => lead.stop();
}

/** Gives how many prices wait for somebody. */
async function refreshOnce(
  source: PriceListSource,
  options: RefreshPriceListOptions,
  signal: AbortSignal,
): Promise<number> {
  const { controlStore, clock, observer } = options;
  const bytes = await readSource(source.from, options.transport, signal);
  const read = priceListOf(source.from, bytes);
  await checkOrigin(source, read, () => isSigned(source, bytes, options.transport, signal));
  // Loaded when somebody first asks: most processes never do.
  const { priceListView } = await import("#admin/index.ts");
  const stored = await controlStore.storedPriceList();
  const isNew = stored?.digest !== read.digest;
  const asIf = {
    listModels: () => controlStore.listModels(),
    listProviders: () => controlStore.listProviders(),
    storedPriceList: async () => (isNew ? { ...read, takenAt: clock.now() } : stored),
  };
  // What is no price list is refused here, before anything is changed.
  const { view, changes } = await priceListView({ controlStore: asIf, clock });
  signal.throwIfAborted();
  if (isNew) await controlStore.storePriceList(read, auditSource);
  const models = changes.map(({ model }) => model);
  if (source.changes === "show") {
    if (isNew) observer.log("info", "Newer prices are there.", { source: read.source, digest: read.digest, models });
    return changes.length;
  }
  // What is only a guess waits for somebody.
  const prices = changes
    .filter(({ guessed }) => !guessed)
    .map(({ model, after, from }) => ({ model, price: after, from }));
  const taken = prices.length === 0 ? [] : await controlStore.applyListPrices(prices, auditSource);
  if (isNew || taken.length > 0)
    observer.log("info", "Newer prices were taken.", { source: view.source, digest: read.digest, models: taken });
  return changes.length - prices.filter(({ model }) => taken.includes(model)).length;
}

/** Whatever is pinned must hold: the digest, the signature, or both. */
async function checkOrigin(
  { digest, publicKey }: PriceListSource,
  read: ReadPriceList,
  signed: () => Promise<boolean>,
): Promise<void> {
  if (digest !== null && digest !== read.digest)
    throw refusal(`the data of ${read.source} is sha256:${read.digest}, not sha256:${digest}`);
  if (publicKey !== null && !(await signed()))
    throw refusal(`the data of ${read.source} was not signed with the key that is asked for`);
}

/** Of the bytes as they came. */
async function isSigned(
  { from, publicKey }: PriceListSource,
  bytes: Uint8Array,
  transport: Pick<Transport, "send">,
  signal: AbortSignal,
): Promise<boolean> {
  const beside = await readSource(besideOf(from), transport, signal);
  const signature = beside.length === 64 ? beside : Buffer.from(new TextDecoder().decode(beside).trim(), "base64");
  return publicKey !== null && verify(null, bytes, publicKey, signature);
}

/** `.sig` belongs to the path, not to what stands behind its `?`. */
function besideOf(from: string): string {
  const url = URL.parse(from);
  if (url === null || url.protocol !== "https:") return `${from}.sig`;
  url.pathname += ".sig";
  return url.href;
}

function refusal(message: string): Failure {
  return new Failure("invalid_request", message);
}

/** How long the address of the price list may take to send it. */
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
function priceListOf(from: string, bytes: Uint8Array): ReadPriceList {
  const text = new TextDecoder().decode(bytes);
  return { text, digest: createHash("sha256").update(bytes).digest("hex"), source: shownSource(from) };
}

async function readSource(from: string, transport: Pick<Transport, "send">, signal: AbortSignal): Promise<Uint8Array> {
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
