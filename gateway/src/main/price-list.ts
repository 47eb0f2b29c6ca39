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

const auditSource = { actor: "price list update", ip: null };

/**
 * Updates the price list regularly, in one process of the installation. Prices set by people are never changed, and the current list is
 * kept while the source cannot be read. Returns a function that stops it.
 */
export function refreshPriceList(
  source: PriceListSource | null,
  options: RefreshPriceListOptions,
): () => Promise<void> {
  const { clock, observer, metrics } = options;
  let failures = 0;
  let waiting = 0;
  metrics.numbers({ sluice_price_list_refresh_failures_total: () => failures });
  metrics.numbers({
    sluice_price_list_changes_waiting: () => waiting,
    sluice_price_list_age_seconds: () => (clock.now() - (lastPriceListDate() ?? clock.now())) / 1_000,
  });
  if (source === null) return async () => undefined;
  const fault = new LastingFault({
    ...{ clock, observer, level: "warn" },
    fault: "failed to update the price list; retrying",
    over: "updates of the price list succeed again",
  });
  const lead = options.leadership.lead("price-list", async ({ signal }) => {
    try {
      while (!signal.aborted) {
        try {
          waiting = await refreshOnce(source, options, signal);
          fault.succeeded();
        } catch (thrown) {
          if (signal.aborted) return;
          failures++;
          fault.failed({ error: thrown });
        }
        await sleep(clock, source.everyMs, signal);
      }
    } finally {
      // Another process reports them now.
      waiting = 0;
    }
  });
  return () => lead.stop();
}

/** Returns how many price changes wait for approval. */
async function refreshOnce(
  source: PriceListSource,
  options: RefreshPriceListOptions,
  signal: AbortSignal,
): Promise<number> {
  const { controlStore, clock, observer } = options;
  const bytes = await readSource(source.from, options.transport, signal);
  const read = priceListOf(source.from, bytes);
  await checkOrigin(source, read, () => isSigned(source, bytes, options.transport, signal));
  // Most processes never load it.
  const { priceListView } = await import("#admin/index.ts");
  const stored = await controlStore.storedPriceList();
  const isNew = stored?.digest !== read.digest;
  const preview = {
    listModels: () => controlStore.listModels(),
    listProviders: () => controlStore.listProviders(),
    storedPriceList: async () => (isNew ? { ...read, loadedAt: clock.now() } : stored),
  };
  // Rejects an invalid price list before anything is changed.
  const { view, changes } = await priceListView({ controlStore: preview, clock });
  signal.throwIfAborted();
  if (isNew) await controlStore.storePriceList(read, auditSource);
  const models = changes.map(({ model }) => model);
  if (source.changes === "review") {
    if (isNew) observer.log("info", "new price list available", { source: read.source, digest: read.digest, models });
    return changes.length;
  }
  // Guessed prices must be accepted by a person.
  const prices = changes
    .filter(({ guessed }) => !guessed)
    .map(({ model, after, from }) => ({ model, price: after, from }));
  const applied = prices.length === 0 ? [] : await controlStore.applyListPrices(prices, auditSource);
  if (isNew || applied.length > 0)
    observer.log("info", "prices updated", { source: view.source, digest: read.digest, models: applied });
  return changes.length - prices.filter(({ model }) => applied.includes(model)).length;
}

/** Checks the pinned digest and signature. */
async function checkOrigin(
  { digest, publicKey }: PriceListSource,
  read: ReadPriceList,
  signed: () => Promise<boolean>,
): Promise<void> {
  if (digest !== null && digest !== read.digest)
    throw refusal(`the data of ${read.source} is sha256:${read.digest}, not sha256:${digest}`);
  if (publicKey !== null && !(await signed()))
    throw refusal(`the data of ${read.source} is not signed with the configured key`);
}

async function isSigned(
  { from, publicKey }: PriceListSource,
  bytes: Uint8Array,
  transport: Pick<Transport, "send">,
  signal: AbortSignal,
): Promise<boolean> {
  const file = await readSource(signatureOf(from), transport, signal);
  const signature = file.length === 64 ? file : Buffer.from(new TextDecoder().decode(file).trim(), "base64");
  return publicKey !== null && verify(null, bytes, publicKey, signature);
}

/** Appends `.sig` to the path, before a query. */
function signatureOf(from: string): string {
  const url = URL.parse(from);
  if (url === null || url.protocol !== "https:") return `${from}.sig`;
  url.pathname += ".sig";
  return url.href;
}

function refusal(message: string): Failure {
  return new Failure("invalid_request", message);
}

const priceListFetchMs = 60_000;

export interface ReadPriceList {
  readonly text: string;
  /** SHA-256 of the bytes, in hexadecimal. */
  readonly digest: string;
  readonly source: string;
}

/** Reads an https address or a file, within limits of size and time. Throws a Failure. */
export async function readPriceListFrom(
  from: string,
  transport: Pick<Transport, "send">,
  signal: AbortSignal,
): Promise<ReadPriceList> {
  return priceListOf(from, await readSource(from, transport, signal));
}

/** The text has no byte order mark. */
function priceListOf(from: string, bytes: Uint8Array): ReadPriceList {
  const text = new TextDecoder().decode(bytes);
  return { text, digest: createHash("sha256").update(bytes).digest("hex"), source: shownSource(from) };
}

async function readSource(from: string, transport: Pick<Transport, "send">, signal: AbortSignal): Promise<Uint8Array> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  if (scheme === "https") return await fetched(from, transport, signal);
  if (scheme !== undefined) throw refusal(`${scheme} addresses are not supported: use https or a file`);
  const size = await stat(from).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  );
  if (size === null) throw refusal(`file ${from} not found`);
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

/** Without the query, which may hold a token. */
function shownSource(from: string): string {
  const url = URL.parse(from);
  return url === null || url.protocol !== "https:" ? from : `${url.origin}${url.pathname}`;
}
