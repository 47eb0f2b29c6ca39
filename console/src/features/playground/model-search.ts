import { readNames, writeNames } from "../../routes/name-list.ts";
import type { Search } from "../../routes/search.ts";

/** How many models can be compared side by side. */
export const modelsMax = 4;

/** The models in the URL: `model=a`, or several as `models=a,b`. */
export function modelsOfSearch({ model = "", models = "" }: Search): readonly string[] {
  return models === "" ? [model].filter((name) => name !== "") : readNames(models, modelsMax);
}

export function searchOfModels(models: readonly string[]): { readonly model: string; readonly models: string } {
  const [model = ""] = models;
  return models.length > 1 ? { model: "", models: writeNames(models) } : { model, models: "" };
}
