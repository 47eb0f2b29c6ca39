import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import type { PriceConfig } from "@sluice/contract";
import type { Command } from "commander";
import { bounds, Failure } from "#core/index.ts";
import type { Control } from "#main.ts";
import { CommandFailed } from "../command-failed.ts";
import { auditSource, withControl } from "../open.ts";
import { columns, report } from "../report.ts";
import type { Terminal } from "../terminal.ts";

interface Options {
  readonly from?: string;
  readonly digest?: string;
  readonly yes?: boolean;
}

export function addCatalogueUpdate(parent: Command, terminal: Terminal): void {
  parent
    .command("update")
    .description("show which prices a newer catalogue would change, and take them with --yes")
    .option(
      "--from <source>",
      "an https address or a file with the data of genai-prices (default: the catalogue in use)",
    )
    .option("--digest <sha256>", "what the data must be, as sha256:<64 hexadecimal digits>")
    .option("--yes", "take it: the catalogue, and each changed price as a new version")
    .action(async (options: Options, command: Command) => {
      const wanted = wantedDigest(options);
      const text = options.from === undefined ? null : await readSource(options.from);
      const digest = text === null ? null : createHash("sha256").update(text).digest("hex");
      if (wanted !== null && digest !== wanted) {
        throw new CommandFailed(
          `the data of ${options.from} is sha256:${digest}, not sha256:${wanted}; nothing was changed`,
        );
      }
      const source = options.from === undefined ? null : shownSource(options.from);
      const taken = text === null || digest === null || source === null ? null : { text, digest, source };
      await withControl(terminal.variables, (control) =>
        update(control, terminal, command, { taken, yes: options.yes === true }),
      );
    });
}

interface Asked {
  readonly taken: { readonly text: string; readonly digest: string; readonly source: string } | null;
  readonly yes: boolean;
}

async function update(control: Control, terminal: Terminal, command: Command, { taken, yes }: Asked): Promise<void> {
  const { controlStore, clock } = control;
  const { catalogueView } = await import("#admin/index.ts");
  const asIf =
    taken === null
      ? controlStore
      : { ...readers(controlStore), storedCatalogue: async () => ({ ...taken, takenAt: clock.now() }) };
  const { view, changes } = await catalogueView({ controlStore: asIf, clock }).catch((thrown: unknown) => {
    throw thrown instanceof Failure
      ? new CommandFailed(`${taken?.source ?? "the catalogue"}: ${thrown.message}`)
      : thrown;
  });
  let done: readonly string[] = [];
  if (yes) {
    if (taken !== null) await controlStore.storeCatalogue(taken, auditSource);
    const prices = changes.map(({ model, after }) => ({ model, price: after }));
    done = prices.length === 0 ? [] : await controlStore.takePrices(prices, auditSource);
  }
  const data = { source: view.source, digest: view.digest, models: view.models, changes: view.changes, taken: done };
  const table = columns([
    ["model", "of", "before", "after"],
    ...changes.map((change) => [
      change.model,
      `${change.provider}/${change.upstreamModel}`,
      priceWords(change.before),
      priceWords(change.after),
    ]),
  ]);
  await report(terminal, command, data, [
    `catalogue  ${view.source}, ${view.models} models${view.digest === null ? "" : `, sha256:${view.digest}`}`,
    ...(changes.length === 0 ? ["no price would change"] : table),
    ...(changes.length === 0 && (taken === null || yes) ? [] : [summary(changes.length, done.length, yes)]),
  ]);
}

function readers(store: Control["controlStore"]) {
  return { listModels: () => store.listModels(), listProviders: () => store.listProviders() };
}

function summary(changes: number, done: number, yes: boolean): string {
  if (yes) return `took ${done} price${done === 1 ? "" : "s"}, each as a new version`;
  return changes === 0
    ? "nothing was changed: say --yes to take the catalogue"
    : "nothing was changed: say --yes to take them";
}

function priceWords(price: PriceConfig | null): string {
  if (price === null) return "none";
  const { long_context: long, variants: _variants, ...plain } = price;
  const words = Object.entries(plain).map(([name, usd]) => `${name} ${usd}`);
  return [...words, ...(long === undefined ? [] : [`more above ${long.above}`])].join(", ");
}

/** An address may hold a token behind its `?`: that is nobody's to read later. */
function shownSource(from: string): string {
  const url = URL.parse(from);
  return url === null || url.protocol !== "https:" ? from : `${url.origin}${url.pathname}`;
}

function wantedDigest({ digest, from }: Options): string | null {
  if (digest === undefined) return null;
  const hex = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(digest)?.[1];
  if (hex === undefined) throw new CommandFailed("--digest takes sha256:<64 hexadecimal digits>");
  if (from === undefined) throw new CommandFailed("--digest goes with --from");
  return hex.toLowerCase();
}

async function readSource(from: string): Promise<string> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  if (scheme === "https") return await fetched(from);
  if (scheme !== undefined)
    throw new CommandFailed(`${scheme} addresses are not read: prices come by https, or from a file`);
  const size = await stat(from).then(
    (found) => (found.isFile() ? found.size : null),
    () => null,
  );
  if (size === null) throw new CommandFailed(`there is no file ${from}`);
  if (size > bounds.catalogueBytesMax)
    throw new CommandFailed(`${from} has more than ${bounds.catalogueBytesMax} bytes`);
  return await readFile(from, "utf8");
}

async function fetched(url: string): Promise<string> {
  const { createTransport } = await import("#upstream/index.ts");
  const { systemClock } = await import("#system/index.ts");
  const transport = createTransport({ clock: systemClock });
  const signal = AbortSignal.timeout(bounds.catalogueFetchMs);
  const times = { connectMs: 10_000, headersMs: 30_000, totalMs: bounds.catalogueFetchMs };
  const request = {
    method: "GET",
    url,
    headers: { accept: "application/json" },
    body: null,
    allowPrivateNetwork: false,
  } as const;
  try {
    const answer = await transport.send({ ...request, ...times, ownConnection: true }, signal);
    if (answer.status !== 200) {
      answer.body.cancel();
      throw new CommandFailed(`${shownSource(url)} answered with status ${answer.status}`);
    }
    return new TextDecoder().decode(
      await answer.body.readAll(bounds.catalogueBytesMax, "total", bounds.catalogueFetchMs),
    );
  } catch (thrown) {
    throw thrown instanceof Failure ? new CommandFailed(`${shownSource(url)}: ${thrown.message}`) : thrown;
  }
}
