import { type RequestRow, unnamedModels } from "@sluice/contract";
import { modelLabel } from "../../components/model-label.ts";

type Modeled = Pick<RequestRow, "model" | "requested_model">;

const unnamed: ReadonlySet<string> = new Set(Object.values(unnamedModels));

/** Model that was charged, if it is one of the gateway's. null: refused, unread or passed through. */
export function modelOf({ model }: Modeled): string | null {
  return model === "" || unnamed.has(model) ? null : model;
}

/** The model that the caller requested. null: the body was not read, or it named none. */
export function requestedModelOf({ requested_model: requested }: Modeled): string | null {
  return requested === "" || unnamed.has(requested) ? null : requested;
}

/** The model of a request in a list: the charged one, else the requested one, else why there is none. */
export function modelWords(row: Modeled): string {
  return modelOf(row) ?? requestedModelOf(row) ?? modelLabel(row.model || unnamedModels.unknown);
}

/** True if another model than the requested one was charged. */
export function isFallback(row: Modeled): boolean {
  const [model, requested] = [modelOf(row), requestedModelOf(row)];
  return model !== null && requested !== null && model !== requested;
}
