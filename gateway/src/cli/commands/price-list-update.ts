import type { PriceConfig } from "@sluice/contract";
import { Failure } from "#core/index.ts";
import type { Control } from "#main.ts";
import type { PriceChange } from "#providers/index.ts";
import { type CliCommand, table, timeText } from "../cli-command.ts";
import { auditSource, environmentOf, withControl } from "../open.ts";
import { CommandFailed, type Terminal } from "../terminal.ts";

interface Options {
  readonly from?: string;
  readonly digest?: string;
  readonly yes?: boolean;
}

export function addPriceListUpdate(program: CliCommand): void {
  const { terminal } = program;
  program
    .command("price-list")
    .description("compare and update prices")
    .command("update")
    .description("compare prices with a newer price list; --yes applies the changes")
    .option("--from <source>", "https address or file with genai-prices data (default: the current price list)")
    .option("--digest <sha256>", "expected digest of the data, sha256:<64 hexadecimal digits>")
    .option("--yes", "apply the price list and each changed price")
    .action(async (options: Options, command: CliCommand) => {
      const wanted = wantedDigest(options);
      const downloaded = options.from === undefined ? null : await readFrom(options.from, terminal);
      if (downloaded !== null && wanted !== null && downloaded.digest !== wanted) {
        throw new CommandFailed(
          `the data of ${options.from} is sha256:${downloaded.digest}, not sha256:${wanted}; nothing was changed`,
        );
      }
      await withControl(terminal.variables, (control) =>
        update(control, command, { downloaded, yes: options.yes === true }),
      );
    });
}

interface Update {
  /** null: compare the list in use. */
  readonly downloaded: { readonly text: string; readonly digest: string; readonly source: string } | null;
  readonly yes: boolean;
}

async function update(control: Control, command: CliCommand, { downloaded, yes }: Update): Promise<void> {
  const { controlStore, clock } = control;
  const { priceListView } = await import("#admin/index.ts");
  const preview =
    downloaded === null
      ? controlStore
      : { ...readers(controlStore), storedPriceList: async () => ({ ...downloaded, loadedAt: clock.now() }) };
  const { view, changes } = await priceListView({ controlStore: preview, clock }).catch((thrown: unknown) => {
    throw thrown instanceof Failure
      ? new CommandFailed(`${downloaded?.source ?? "the price list"}: ${thrown.message}`)
      : thrown;
  });
  let applied: readonly string[] = [];
  if (yes) {
    if (downloaded !== null) await controlStore.storePriceList(downloaded, auditSource);
    const prices = changes.map(({ model, after, from }) => ({ model, price: after, from }));
    applied = prices.length === 0 ? [] : await controlStore.applyListPrices(prices, auditSource);
  }
  const data = { source: view.source, digest: view.digest, models: view.models, changes: view.changes, applied };
  const rows = changes.map((change) => [
    change.guessed ? `${change.model} (a guess)` : change.model,
    `${change.provider}/${change.upstreamModel}`,
    priceWords(change.before),
    `${priceWords(change.after)}${change.from === null ? "" : ` from ${timeText(change.from).slice(0, 10)}`}`,
  ]);
  await command.report(data, [
    `price list  ${view.source}, ${view.models} models${view.digest === null ? "" : `, sha256:${view.digest}`}`,
    ...table(["model", "upstream", "before", "after"], rows, "no prices change"),
    ...(changes.length === 0 && (downloaded === null || yes) ? [] : [summary(changes.length, applied.length, yes)]),
    ...guesses(changes, applied),
  ]);
}

function readers(store: Control["controlStore"]) {
  return { listModels: () => store.listModels(), listProviders: () => store.listProviders() };
}

/** A price of a model with a similar name should be checked. */
function guesses(changes: readonly PriceChange[], applied: readonly string[]): readonly string[] {
  const guessedModels = changes.flatMap(({ model, guessed }) => (guessed && applied.includes(model) ? [model] : []));
  return guessedModels.length === 0 ? [] : [`check these guessed prices: ${[...new Set(guessedModels)].join(", ")}`];
}

function summary(changes: number, done: number, yes: boolean): string {
  if (yes) return `updated ${done} price${done === 1 ? "" : "s"}`;
  return changes === 0
    ? "nothing was changed: use --yes to apply the price list"
    : "nothing was changed: use --yes to apply them";
}

function priceWords(price: PriceConfig | null): string {
  if (price === null) return "none";
  const { long_context: long, variants: _variants, ...plain } = price;
  const words = Object.entries(plain).map(([name, usd]) => `${name} ${usd}`);
  return [...words, ...(long === undefined ? [] : [`more above ${long.above}`])].join(", ");
}

function wantedDigest({ digest, from }: Options): string | null {
  if (digest === undefined) return null;
  const hex = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(digest)?.[1];
  if (hex === undefined) throw new CommandFailed("--digest must be sha256:<64 hexadecimal digits>");
  if (from === undefined) throw new CommandFailed("--digest requires --from");
  return hex.toLowerCase();
}

/** Uses the proxies and certificate authorities of the environment. */
async function readFrom(from: string, terminal: Terminal) {
  const environment = await environmentOf(terminal.variables);
  const [{ networkOf, readPriceListFrom }, { createTransport }, { systemClock }] = await Promise.all([
    import("#main.ts"),
    import("#upstream/index.ts"),
    import("#system/index.ts"),
  ]);
  const transport = createTransport({ clock: systemClock, ...networkOf(environment) });
  return await readPriceListFrom(from, transport, new AbortController().signal).catch((thrown: unknown) => {
    throw thrown instanceof Failure ? new CommandFailed(thrown.message) : thrown;
  });
}
