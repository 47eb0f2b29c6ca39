import { Failure } from "#core/index.ts";
import type { ControlStore } from "#ports/index.ts";
import type { PriceChange } from "#providers/index.ts";
import { type CatalogueDependencies, catalogueView } from "../catalog/catalogue-reading.ts";
import type { Handlers } from "./handler.ts";

export interface CatalogueHandlerDependencies extends CatalogueDependencies {
  readonly controlStore: ControlStore;
  /** Resolves when this process goes by everything that was written until now. */
  readonly changesSeen: () => Promise<void>;
}

/** The calls about the catalogue of prices. */
export function catalogueHandlers(
  dependencies: CatalogueHandlerDependencies,
): Handlers<"catalogue.show" | "catalogue.take"> {
  const { controlStore } = dependencies;
  return {
    "catalogue.show": async () => (await catalogueView(dependencies)).view,
    "catalogue.take": async ({ body, auditSource }) => {
      const { view, changes } = await catalogueView(dependencies);
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
      return { ...(await catalogueView(dependencies)).view, taken: [...taken], guessed };
    },
  };
}

/** Models whose price was taken and is a guess. */
function guessedOf(changes: readonly PriceChange[], taken: readonly string[]): string[] {
  return [...new Set(changes.flatMap(({ model, guessed }) => (guessed && taken.includes(model) ? [model] : [])))];
}
