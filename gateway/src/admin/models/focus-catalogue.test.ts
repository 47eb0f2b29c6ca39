import { expect, test } from "bun:test";
import { pricesOf } from "#core/index.ts";
import { focusCatalogue } from "./focus-catalogue.ts";

const clock = { now: () => Date.UTC(2026, 10, 30) };

test("has the list prices, vendors and publishers of the current models, and no guesses", async () => {
  const model = (name: string, provider: string, upstream_model: string) => ({
    ...{ name, owned_by: name === "mine" ? "" : "openai", deployments: [{ provider, upstream_model }] },
  });
  const controlStore = {
    storedPriceList: async () => null,
    listProviders: async () => [
      { id: "main", kind: "openai" },
      { id: "local", kind: "openai-compatible" },
    ],
    listModels: async () => [model("gpt", "main", "gpt-4o"), model("mine", "local", "my-own-model")],
  };
  const found = await focusCatalogue({ controlStore: controlStore as never, clock });
  expect(Object.keys(found.listPrices)).toEqual(["main gpt-4o"]);
  const { table } = pricesOf({ input: 2.5, cache_read: 1.25, output: 10 });
  expect(found.listPrices["main gpt-4o"]).toMatchObject({ inputUncached: table.inputUncached, output: table.output });
  expect(found.vendors["main"]).toBe("OpenAI");
  expect(found.publishers).toEqual({ gpt: "OpenAI" });
});
