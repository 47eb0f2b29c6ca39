import { readFileSync } from "node:fs";
import { join } from "node:path";
import { catalogueProviders, readCatalogue } from "#providers/index.ts";

/**
 * Writes the catalogue that comes with the program from the data of genai-prices (MIT, © Pydantic Services Inc.):
 * `bun gateway/test/write-catalogue.ts <data.json> <version>`, where the data is what its `REMOTE_DATA_JSON_URL` leads to, or the
 * providers that its npm package holds. Providers that no kind of ours leads to are left out, and so is what says nothing of prices.
 */
const [file = "", version = ""] = process.argv.slice(2);
const providers = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>[];
const kept = providers
  .filter(({ id }) => catalogueProviders.has(String(id)))
  .map(({ id, fallback_model_providers, models }) => ({
    id,
    ...(fallback_model_providers === undefined ? {} : { fallback_model_providers }),
    models: (models as Record<string, unknown>[]).map(({ id, match, context_window, deprecated, prices }) => ({
      id,
      match,
      context_window,
      deprecated,
      prices,
    })),
  }));
const source = `@pydantic/genai-prices ${version}`;
const text = `${JSON.stringify({ source, licence: "MIT, Copyright (c) Pydantic Services Inc.", providers: kept })}\n`;
readCatalogue(text);
await Bun.write(join(import.meta.dir, "../src/providers/catalogue/bundled-catalogue.json"), text);
