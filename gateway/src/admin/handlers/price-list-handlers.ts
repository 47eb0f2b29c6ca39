import { Failure } from "#core/index.ts";
import type { ControlStore } from "#directory/index.ts";
import type { PriceChange } from "#providers/index.ts";
import { type PriceListDependencies, priceListView } from "../models/price-list-reading.ts";
import type { Handlers } from "./handler.ts";

export interface PriceListHandlerDependencies extends PriceListDependencies {
  readonly controlStore: ControlStore;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
}

/** The calls about the price list. */
export function priceListHandlers(
  dependencies: PriceListHandlerDependencies,
): Handlers<"catalogue.show" | "catalogue.take"> {
  const { controlStore } = dependencies;
  return {
    "catalogue.show": async () => (await priceListView(dependencies)).view,
    "catalogue.take": async ({ body, auditSource }) => {
      const { view, changes } = await priceListView(dependencies);
      if (view.version !== body.version) {
        throw new Failure("conflict", "Prices or models have changed since these were shown. Look at them again.", {
          param: "version",
        });
      }
      const known = new Set(changes.map(({ model }) => model));
      const unknown = (body.models ?? []).find((model) => !known.has(model));
      if (unknown !== undefined) {
        throw new Failure("invalid_request", `There is no new price of the model ${unknown}.`, { param: "models" });
      }
      const wanted = body.models === undefined ? known : new Set(body.models);
      const prices = changes.flatMap(({ model, after, from }) =>
        wanted.has(model) ? [{ model, price: after, from }] : [],
      );
      const taken = await controlStore.takePrices(prices, auditSource);
      await dependencies.changesSeen();
      const guessed = guessedOf(changes, taken);
      return { ...(await priceListView(dependencies)).view, taken: [...taken], guessed };
    },
  };
}

/** Models whose price was taken and is a guess. */
function guessedOf(changes: readonly PriceChange[], taken: readonly string[]): string[] {
  return [...new Set(changes.flatMap(({ model, guessed }) => (guessed && taken.includes(model) ? [model] : [])))];
}
