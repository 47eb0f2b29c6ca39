import { join } from "node:path";
import { priceListProviders, readPriceList } from "#providers/index.ts";

/**
 * Writes the bundled price list from a wheel of genai-prices (MIT, © Pydantic Services Inc.):
 *
 *   pip download --no-deps genai-prices
 *   bun gateway/test/write-price-list.ts genai_prices-0.2.3-py3-none-any.whl 2026-11-10
 *
 * The date is that version's publication day (pypi.org/project/genai-prices/#history). Providers that no provider type
 * uses, and data other than prices, are omitted. Fails if a model of the data cannot be read.
 */
interface Model {
  readonly id: string;
}
interface Provider {
  readonly id: string;
  readonly fallback_model_providers?: readonly string[];
  readonly models: readonly Model[];
}

const [wheel = "", published = ""] = process.argv.slice(2);
if (!/^\d{4}-\d\d-\d\d$/.test(published))
  throw new Error("Pass the publication day of the version, such as 2026-11-10.");
const root = join(import.meta.dir, "../..");
const printed = Bun.spawnSync(["python3", join(root, "scripts/price-list-data.py"), wheel], { stderr: "inherit" });
if (printed.exitCode !== 0) throw new Error(`The data of ${wheel} could not be read.`);
const data = JSON.parse(printed.stdout.toString()) as {
  readonly version: string;
  readonly license: string;
  readonly providers: Provider[];
};

const wanted = data.providers.filter(({ id }) => priceListProviders.has(id));
const lent = new Set(wanted.flatMap(({ fallback_model_providers: fallbacks = [] }) => fallbacks));
const selected = data.providers.filter(({ id }) => priceListProviders.has(id) || lent.has(id));
const source = `genai-prices ${data.version}`;
const text = oneModelPerLine({ source, published, licence: "MIT, Copyright (c) Pydantic Services Inc." }, selected);

const read = readPriceList(text);
for (const { id, models } of selected) {
  const readable = new Set(read.providers.get(id)?.models.map((model) => model.id));
  const lost = models.filter((model) => !readable.has(model.id)).map((model) => model.id);
  if (lost.length > 0) throw new Error(`${id}: not understood: ${lost.join(", ")}`);
}
const folder = join(root, "gateway/src/providers/price-list");
await Bun.write(join(folder, "bundled-price-list.generated.json"), text);
await Bun.write(join(folder, "LICENSE"), data.license);
console.log(`${source} of ${published}: ${selected.reduce((sum, { models }) => sum + models.length, 0)} models`);

/** One line per model, so that versions can be compared. */
function oneModelPerLine(head: object, providers: readonly Provider[]): string {
  const blocks = providers.map(({ models, ...provider }) => {
    const lines = models.map((model) => JSON.stringify(model)).join(",\n");
    return `${JSON.stringify(provider).slice(0, -1)},"models":[\n${lines}\n]}`;
  });
  return `${JSON.stringify(head).slice(0, -1)},"providers":[\n${blocks.join(",\n")}\n]}\n`;
}
