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
    .command("catalogue")
    .description("keep prices current")
    .command("update")
    .description("show which prices a newer catalogue would change, and take them with --yes")
    .option(
      "--from <source>",
      "an https address or a file with the data of genai-prices (default: the catalogue in use)",
    )
    .option("--digest <sha256>", "what the data must be, as sha256:<64 hexadecimal digits>")
    .option("--yes", "take it: the catalogue, and each changed price as a new version")
    .action(async (options: Options, command: CliCommand) => {
      const wanted = wantedDigest(options);
      const taken = options.from === undefined ? null : await readFrom(options.from, terminal);
      if (taken !== null && wanted !== null && taken.digest !== wanted) {
        throw new CommandFailed(
          `the data of ${options.from} is sha256:${taken.digest}, not sha256:${wanted}; nothing was changed`,
        );
      }
      await withControl(terminal.variables, (control) =>
        update(control, command, { taken, yes: options.yes === true }),
      );
    });
}

interface Asked {
  readonly taken: { readonly text: string; readonly digest: string; readonly source: string } | null;
  readonly yes: boolean;
}

async function update(control: Control, command: CliCommand, { taken, yes }: Asked): Promise<void> {
  const { controlStore, clock } = control;
  const { priceListView } = await import("#admin/index.ts");
  const asIf =
    taken === null
      ? controlStore
      : { ...readers(controlStore), storedPriceList: async () => ({ ...taken, takenAt: clock.now() }) };
  const { view, changes } = await priceListView({ controlStore: asIf, clock }).catch((thrown: unknown) => {
    throw thrown instanceof Failure
      ? new CommandFailed(`${taken?.source ?? "the catalogue"}: ${thrown.message}`)
      : thrown;
  });
  let done: readonly string[] = [];
  if (yes) {
    if (taken !== null) await controlStore.storePriceList(taken, auditSource);
    const prices = changes.map(({ model, after, from }) => ({ model, price: after, from }));
    done = prices.length === 0 ? [] : await controlStore.applyListPrices(prices, auditSource);
  }
  const data = { source: view.source, digest: view.digest, models: view.models, changes: view.changes, taken: done };
  const rows = changes.map((change) => [
    change.guessed ? `${change.model} (a guess)` : change.model,
    `${change.provider}/${change.upstreamModel}`,
    priceWords(change.before),
    `${priceWords(change.after)}${change.from === null ? "" : ` from ${timeText(change.from).slice(0, 10)}`}`,
  ]);
  await command.report(data, [
    `catalogue  ${view.source}, ${view.models} models${view.digest === null ? "" : `, sha256:${view.digest}`}`,
    ...table(["model", "of", "before", "after"], rows, "no price would change"),
    ...(changes.length === 0 && (taken === null || yes) ? [] : [summary(changes.length, done.length, yes)]),
    ...guesses(changes, done),
  ]);
}

function readers(store: Control["controlStore"]) {
  return { listModels: () => store.listModels(), listProviders: () => store.listProviders() };
}

/** The price list knows a model with a similar name: what was taken so has to be checked by somebody. */
function guesses(changes: readonly PriceChange[], done: readonly string[]): readonly string[] {
  const taken = changes.flatMap(({ model, guessed }) => (guessed && done.includes(model) ? [model] : []));
  return taken.length === 0 ? [] : [`check these, their prices are guesses: ${[...new Set(taken)].join(", ")}`];
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

function wantedDigest({ digest, from }: Options): string | null {
  if (digest === undefined) return null;
  const hex = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(digest)?.[1];
  if (hex === undefined) throw new CommandFailed("--digest takes sha256:<64 hexadecimal digits>");
  if (from === undefined) throw new CommandFailed("--digest goes with --from");
  return hex.toLowerCase();
}

/** By the same way outside as the gateway's: proxies and authorities of the environment. */
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
